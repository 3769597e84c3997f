package dev.portcullis.spring;

import dev.portcullis.client.Decision;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.web.filter.OncePerRequestFilter;

/** Answers for failures that no handler takes, those of Spring Security's filters among them. */
final class ProblemFilter extends OncePerRequestFilter implements Ordered {
    /** The attribute of a request that Portcullis denied: the decision. */
    static final String DENIAL = ProblemFilter.class.getName() + ".denial";

    // Spring Security's filters are at -100.
    private static final int ORDER = -150;

    private final boolean exposeReason;

    ProblemFilter(boolean exposeReason) {
        this.exposeReason = exposeReason;
    }

    @Override
    public int getOrder() {
        return ORDER;
    }

    /** Also what goes on in another thread may fail. */
    @Override
    protected boolean shouldNotFilterAsyncDispatch() {
        return false;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        try {
            chain.doFilter(request, new DenialResponse(request, response));
        } catch (ServletException | RuntimeException error) {
            Problem problem = Problem.of(error instanceof ServletException && error.getCause() != null ? error.getCause() : error);
            if (problem == null || response.isCommitted()) {
                throw error;
            }
            response.resetBuffer();
            problem.send(response, exposeReason);
        }
    }

    /** A response in which the page for a denial by Portcullis is a problem. */
    private final class DenialResponse extends HttpServletResponseWrapper {
        private final HttpServletRequest request;

        DenialResponse(HttpServletRequest request, HttpServletResponse response) {
            super(response);
            this.request = request;
        }

        @Override
        public void sendError(int status, String message) throws IOException {
            if (status == SC_FORBIDDEN && request.getAttribute(DENIAL) instanceof Decision decision) {
                new Problem(HttpStatus.FORBIDDEN, decision).send((HttpServletResponse) getResponse(), exposeReason);
            } else {
                super.sendError(status, message);
            }
        }
    }
}
