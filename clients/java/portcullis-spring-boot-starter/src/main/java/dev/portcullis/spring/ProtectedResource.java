package dev.portcullis.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * Protects a handler of requests: its resource is registered at the start, and each request is checked with the bearer token of its
 * caller.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Reflective
public @interface ProtectedResource {
    /** The resource, {@code <name>:<verb>}. */
    String name();

    /** The name that people see. */
    String displayName() default "";

    /** The roles that may use the resource at first. */
    String[] defaultRoles() default {};
}
