package dev.portcullis.spring;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/** Answers for denials of {@link Permit} within handlers, before Spring Security makes a page of them. */
final class DenialResolver implements HandlerExceptionResolver, Ordered {
    private final boolean exposeReason;

    DenialResolver(boolean exposeReason) {
        this.exposeReason = exposeReason;
    }

    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception error) {
        Problem problem = Problem.ofDenial(error);
        if (problem == null) {
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
