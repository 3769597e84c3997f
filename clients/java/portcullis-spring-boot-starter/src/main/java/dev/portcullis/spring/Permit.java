package dev.portcullis.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/** Lets a method run only if the authenticated user may use a resource. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Reflective(PermitHints.class)
public @interface Permit {
    /** The resource, {@code <name>:<verb>}. */
    String value();

    /**
     * Attributes of the check, each a path and an expression (SpEL) over the arguments, by the names of the method that has the
     * annotation: {@code resource.id=#id}. One whose value is null or an empty {@code Optional} is left out; a name that no argument has
     * is a fault.
     */
    String[] attributes() default {};
}
