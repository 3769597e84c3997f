package dev.portcullis.spring;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/** Answers for failures within handlers. */
final class ProblemResolver implements HandlerExceptionResolver, Ordered {
    private final Function<Exception, @Nullable Problem> problems;
    private final boolean exposeReason;

    ProblemResolver(Function<Exception, @Nullable Problem> problems, boolean exposeReason) {
        this.problems = problems;
        this.exposeReason = exposeReason;
    }

    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception error) {
        Problem problem = problems.apply(error);
        if (problem == null) {
            return null;
        }
        if (problem.status() == HttpStatus.UNAUTHORIZED) {
            // Spring Security says how to authenticate.
            request.setAttribute(ProblemFilter.PROBLEM, problem);
            return null;
        }
        try {
            problem.send(response, exposeReason);
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
        return new ModelAndView();
    }
}
