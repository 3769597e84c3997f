package dev.portcullis.spring;

import dev.portcullis.client.CallOptions;
import dev.portcullis.client.Credential;
import dev.portcullis.client.Portcullis;
import dev.portcullis.client.PortcullisException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Asks whether the service is ready. Boot 3.5 and 4 have an interface of their own for it. */
final class ServiceHealth {
    private ServiceHealth() {}

    /** Returns why the service is not ready; null where it is. */
    static @Nullable String fault(Portcullis portcullis) {
        try {
            // The route is public, and the client may have no credential of its own.
            portcullis.request("GET", "/healthz/ready", CallOptions.defaults().credential(Credential.token("none")));
            return null;
        } catch (PortcullisException error) {
            return error.getMessage();
        }
    }

    /** The health of Boot 3.5. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.actuate.health.HealthIndicator")
    static class OfBoot3 {
        @Bean
        org.springframework.boot.actuate.health.HealthIndicator portcullisHealthIndicator(Portcullis portcullis) {
            return () -> {
                String fault = fault(portcullis);
                return fault == null
                        ? org.springframework.boot.actuate.health.Health.up().build()
                        : org.springframework.boot.actuate.health.Health.down().withDetail("fault", fault).build();
            };
        }
    }

    /** The health of Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
    static class OfBoot4 {
        @Bean
        org.springframework.boot.health.contributor.HealthIndicator portcullisHealthIndicator(Portcullis portcullis) {
            return () -> {
                String fault = fault(portcullis);
                return fault == null
                        ? org.springframework.boot.health.contributor.Health.up().build()
                        : org.springframework.boot.health.contributor.Health.down().withDetail("fault", fault).build();
            };
        }
    }
}
