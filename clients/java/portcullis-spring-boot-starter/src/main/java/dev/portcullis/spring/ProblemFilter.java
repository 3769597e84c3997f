package dev.portcullis.spring;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.web.filter.OncePerRequestFilter;

/** Answers for failures that no handler takes, those of Spring Security's filters among them. */
final class ProblemFilter extends OncePerRequestFilter implements Ordered {
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

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        try {
            chain.doFilter(request, response);
        } catch (ServletException | RuntimeException error) {
            Problem problem = Problem.of(error instanceof ServletException && error.getCause() != null ? error.getCause() : error);
            if (problem == null || response.isCommitted()) {
                throw error;
            }
            response.reset();
            problem.send(response, exposeReason);
        }
    }
}
