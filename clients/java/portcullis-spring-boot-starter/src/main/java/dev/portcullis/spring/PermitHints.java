package dev.portcullis.spring;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.annotation.ReflectiveProcessor;

/** Keeps in a native image what methods with {@link Permit} and their expressions look up by name. */
final class PermitHints implements ReflectiveProcessor {
    @Override
    public void registerReflectionHints(ReflectionHints hints, AnnotatedElement element) {
        if (element instanceof Method method) {
            hints.registerMethod(method, ExecutableMode.INVOKE);
            hints.registerType(method.getDeclaringClass(), MemberCategory.INVOKE_PUBLIC_METHODS);
            for (Class<?> type : method.getParameterTypes()) {
                hints.registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS);
            }
        }
    }
}
