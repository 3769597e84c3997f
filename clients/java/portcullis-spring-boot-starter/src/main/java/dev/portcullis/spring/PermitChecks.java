package dev.portcullis.spring;

import dev.portcullis.client.Check;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodClassKey;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ExpressionParser;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ObjectUtils;

/** Returns the checks of calls of methods with {@link Permit}. */
final class PermitChecks implements BiFunction<String, MethodInvocation, Check> {
    private static final ExpressionParser PARSER = new SpelExpressionParser();
    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private record Attribute(String path, Expression expression) {}

    /**
     * How a method is protected.
     *
     * @param names the method whose arguments have the names of the expressions
     */
    private record Protection(Method names, String resource, List<Attribute> attributes) {}

    /** The arguments of a call. A name that none of them has is a fault: its attribute would be missing in the check. */
    private static final class Arguments extends MethodBasedEvaluationContext {
        private final Set<String> known = new HashSet<>();

        Arguments(MethodInvocation call, Method names) {
            super(call.getThis(), names, call.getArguments(), NAMES);
            String[] given = NAMES.getParameterNames(names);
            known.addAll(given == null ? List.of() : List.of(given));
            for (int at = 0; at < names.getParameterCount(); at += 1) {
                known.add("a" + at);
                known.add("p" + at);
            }
        }

        @Override
        public @Nullable Object lookupVariable(String name) {
            if (!known.contains(name)) {
                throw new IllegalStateException("@Permit: no argument has the name `" + name + "`");
            }
            return super.lookupVariable(name);
        }
    }

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
        MergedAnnotation<Permit> found = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).get(Permit.class);
        if (!found.isPresent()) {
            throw new IllegalStateException("no @Permit on " + method);
        }
        Permit permit = found.synthesize();
        List<Attribute> attributes = new ArrayList<>();
        for (String text : permit.attributes()) {
            int equals = text.indexOf('=');
            if (equals < 0) {
                throw new IllegalStateException("expected `path=expression`, got `" + text + "` on " + method);
            }
            attributes.add(new Attribute(text.substring(0, equals).strip(), PARSER.parseExpression(text.substring(equals + 1).strip())));
        }
        // Expressions have the names of the method that they stand on, which may be that of an interface.
        boolean hasNames = found.getSource() instanceof Method annotated && NAMES.getParameterNames(annotated) != null;
        return new Protection(hasNames ? (Method) found.getSource() : method, permit.value(), attributes);
    }

    private static Check withAttributes(Check check, Protection protection, MethodInvocation call) {
        if (protection.attributes().isEmpty()) {
            return check;
        }
        EvaluationContext context = new Arguments(call, protection.names());
        Check changed = check;
        for (Attribute attribute : protection.attributes()) {
            Object value = plain(attribute.expression().getValue(context));
            if (value != null) {
                changed = changed.attribute(attribute.path(), value);
            }
        }
        return changed;
    }

    /** Returns what JSON can hold: of other types, such as UUID, the text. */
    private static @Nullable Object plain(@Nullable Object given) {
        Object value = ObjectUtils.unwrapOptional(given);
        if (value == null || value instanceof Number || value instanceof Boolean) {
            return value;
        }
        if (ObjectUtils.isArray(value)) {
            return plain(Arrays.asList(ObjectUtils.toObjectArray(value)));
        }
        if (value instanceof Collection<?> items) {
            List<@Nullable Object> all = new ArrayList<>();
            items.forEach(item -> all.add(plain(item)));
            return all;
        }
        return value.toString();
    }
}
