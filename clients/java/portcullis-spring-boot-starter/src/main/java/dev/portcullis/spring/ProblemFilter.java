package dev.portcullis.spring;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.filter.OncePerRequestFilter;

/** Answers for failures that no handler takes, those of Spring Security's filters among them. */
final class ProblemFilter extends OncePerRequestFilter implements Ordered {
    /** The attribute of a request that Spring Security answers for Portcullis: the problem. */
    static final String PROBLEM = ProblemFilter.class.getName() + ".problem";

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
        ProblemResponse answer = new ProblemResponse(request, response);
        try {
            chain.doFilter(request, answer);
            answer.fillIn();
        } catch (ServletException | RuntimeException error) {
            Problem problem = Problem.of(error instanceof ServletException && error.getCause() != null ? error.getCause() : error);
            if (problem == null || response.isCommitted()) {
                throw error;
            }
            response.resetBuffer();
            problem.send(response, exposeReason);
        }
    }

    /** A response in which the page, or the empty answer, for what Portcullis does not let go on is a problem. */
    private final class ProblemResponse extends HttpServletResponseWrapper {
        private final HttpServletRequest request;
        private boolean isWritten;

        ProblemResponse(HttpServletRequest request, HttpServletResponse response) {
            super(response);
            this.request = request;
        }

        @Override
        public void sendError(int status) throws IOException {
            sendError(status, null);
        }

        @Override
        public void sendError(int status, @Nullable String message) throws IOException {
            Problem problem = problem(status);
            if (problem == null) {
                super.sendError(status, message);
            } else {
                isWritten = true;
                problem.send((HttpServletResponse) getResponse(), exposeReason);
            }
        }

        @Override
        public ServletOutputStream getOutputStream() throws IOException {
            isWritten = true;
            return super.getOutputStream();
        }

        @Override
        public PrintWriter getWriter() throws IOException {
            isWritten = true;
            return super.getWriter();
        }

        /** Sends the problem where there is a status alone. */
        void fillIn() throws IOException {
            Problem problem = isWritten || isCommitted() ? null : problem(getStatus());
            if (problem != null) {
                problem.send((HttpServletResponse) getResponse(), exposeReason);
            }
        }

        /** Returns the problem of an answer with this status. Without a way to authenticate, Spring Security says 403 in place of 401. */
        private @Nullable Problem problem(int status) {
            return request.getAttribute(PROBLEM) instanceof Problem problem
                            && (status == problem.status().value() || status == SC_FORBIDDEN)
                    ? problem
                    : null;
        }
    }
}
