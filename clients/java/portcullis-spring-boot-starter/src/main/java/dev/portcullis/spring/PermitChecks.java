package dev.portcullis.spring;

import dev.portcullis.client.Check;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodClassKey;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ExpressionParser;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** Returns the checks of calls of methods with {@link Permit}. */
final class PermitChecks implements BiFunction<String, MethodInvocation, Check> {
    private static final ExpressionParser PARSER = new SpelExpressionParser();
    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private record Attribute(String path, Expression expression) {}

    private record Protection(Method method, String resource, List<Attribute> attributes) {}

    private final Map<MethodClassKey, Protection> protections = new ConcurrentHashMap<>();

    @Override
    public Check apply(String user, MethodInvocation call) {
        Object target = call.getThis();
        Class<?> type = target == null ? call.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        Protection protection =
                protections.computeIfAbsent(new MethodClassKey(call.getMethod(), type), key -> protection(call.getMethod(), type));
        return withAttributes(Check.of(user, protection.resource()), protection, call);
    }

    private static Protection protection(Method called, Class<?> type) {
        Method method = AopUtils.getMostSpecificMethod(called, type);
        Permit permit = AnnotatedElementUtils.findMergedAnnotation(method, Permit.class);
        if (permit == null) {
            throw new IllegalStateException("no @Permit on " + method);
        }
        List<Attribute> attributes = new ArrayList<>();
        for (String text : permit.attributes()) {
            int equals = text.indexOf('=');
            if (equals < 0) {
                throw new IllegalStateException("expected `path=expression`, got `" + text + "` on " + method);
            }
            attributes.add(new Attribute(text.substring(0, equals).strip(), PARSER.parseExpression(text.substring(equals + 1).strip())));
        }
        return new Protection(method, permit.value(), attributes);
    }

    private static Check withAttributes(Check check, Protection protection, MethodInvocation call) {
        if (protection.attributes().isEmpty()) {
            return check;
        }
        EvaluationContext context =
                new MethodBasedEvaluationContext(call.getThis(), protection.method(), call.getArguments(), NAMES);
        Check changed = check;
        for (Attribute attribute : protection.attributes()) {
            Object value = attribute.expression().getValue(context);
            if (value != null) {
                changed = changed.attribute(attribute.path(), plain(value));
            }
        }
        return changed;
    }

    /** Returns what JSON can hold: of other types, such as UUID, the text. */
    private static Object plain(Object value) {
        boolean isPlain = value instanceof Number || value instanceof Boolean || value instanceof Iterable;
        return isPlain ? value : value.toString();
    }
}
