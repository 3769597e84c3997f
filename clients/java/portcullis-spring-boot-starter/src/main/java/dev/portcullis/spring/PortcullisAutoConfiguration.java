package dev.portcullis.spring;

import dev.portcullis.client.Cache;
import dev.portcullis.client.Observer;
import dev.portcullis.client.OnUnavailable;
import dev.portcullis.client.Portcullis;
import java.util.List;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.security.authorization.AuthorizationManager;
import org.springframework.security.authorization.method.AuthorizationManagerBeforeMethodInterceptor;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.servlet.mvc.support.DefaultHandlerExceptionResolver;

/** Makes a client of the properties, and lets Spring MVC, Spring Security and the health of the application ask it. */
@AutoConfiguration
@EnableConfigurationProperties(PortcullisProperties.class)
public class PortcullisAutoConfiguration {
    /** Makes the client. */
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnProperty("portcullis.url")
    Portcullis portcullis(PortcullisProperties properties, ObjectProvider<Observer> observer) {
        Portcullis.Builder builder = properties.builder();
        if (properties.serviceKey() != null) {
            builder.serviceKey(properties.serviceKey());
        } else {
            // The interceptor has the tokens of its callers. Anything else is told what is missing.
            builder.tokenProvider(() -> {
                throw new IllegalStateException("expected the property `portcullis.service-key`");
            });
        }
        if (properties.domain() != null) {
            builder.domain(properties.domain());
        }
        if (properties.cache().ttl() != null) {
            builder.cache(Cache.of(properties.cache().ttl()));
        }
        boolean denies = properties.onUnavailable() == PortcullisProperties.Unavailable.DENY;
        builder.onUnavailable(denies ? OnUnavailable.DENY : OnUnavailable.THROW);
        observer.ifUnique(builder::observer);
        return builder.build();
    }

    /** Spring MVC: the interceptor, the registration and the answers for failures. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnClass(DispatcherServlet.class)
    static class Web {
        @Bean
        @ConditionalOnProperty(name = "portcullis.interceptor.enabled", matchIfMissing = true)
        WebMvcConfigurer portcullisInterceptor(ObjectProvider<Portcullis> portcullis, PortcullisProperties properties) {
            return new WebMvcConfigurer() {
                @Override
                public void addInterceptors(InterceptorRegistry registry) {
                    registry.addInterceptor(new ProtectedResourceInterceptor(portcullis, properties.exposeReason()));
                }
            };
        }

        @Bean
        @ConditionalOnProperty("portcullis.url")
        @ConditionalOnProperty(name = "portcullis.registration.enabled", matchIfMissing = true)
        ResourceRegistration portcullisRegistration(
                PortcullisProperties properties, Environment environment, ObjectProvider<RequestMappingHandlerMapping> mappings) {
            return new ResourceRegistration(properties, environment, mappings);
        }

        @Bean
        ProblemFilter portcullisProblemFilter(PortcullisProperties properties) {
            return new ProblemFilter(properties.exposeReason());
        }

        @Bean
        WebMvcConfigurer portcullisProblems(PortcullisProperties properties) {
            return new WebMvcConfigurer() {
                @Override
                public void extendHandlerExceptionResolvers(List<HandlerExceptionResolver> resolvers) {
                    // Spring's last resolver takes a connection that the service closed for the caller's own, and answers nothing: a 200.
                    int last = resolvers.size();
                    while (last > 0 && resolvers.get(last - 1) instanceof DefaultHandlerExceptionResolver) {
                        last -= 1;
                    }
                    resolvers.add(last, new ProblemResolver(Problem::of, properties.exposeReason()));
                }
            };
        }

        /** Denials by Spring Security, before it makes a page of them. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnClass(AuthorizationManager.class)
        static class Denials {
            @Bean
            ProblemResolver portcullisDenialResolver(PortcullisProperties properties) {
                return new ProblemResolver(Problem::ofDenial, properties.exposeReason());
            }
        }
    }

    /** Spring Security: managers, and methods with {@link Permit}. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(AuthorizationManager.class)
    @Import(Proxies.class)
    static class Security {
        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static PortcullisAuthorizationManager portcullisAuthorizationManager(ObjectProvider<Portcullis> portcullis) {
            return new PortcullisAuthorizationManager(portcullis);
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static AuthorizationManagerBeforeMethodInterceptor portcullisPermit(PortcullisAuthorizationManager manager) {
            return new AuthorizationManagerBeforeMethodInterceptor(Proxies.methods(), manager.by(new PermitChecks()));
        }
    }

    /** Without Spring Security nobody is authenticated: methods with {@link Permit} do not run. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass("org.springframework.security.authorization.AuthorizationManager")
    @Import(Proxies.class)
    static class NoSecurity {
        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static DefaultPointcutAdvisor portcullisPermit() {
            return new DefaultPointcutAdvisor(Proxies.methods(), (MethodInterceptor) call -> {
                throw new IllegalStateException("@Permit needs Spring Security, which says who asks");
            });
        }
    }

    /** Lets Spring make proxies of beans whose methods have {@link Permit}. */
    static class Proxies implements ImportBeanDefinitionRegistrar {
        /** Returns the methods with {@link Permit}, also those whose annotation stands on the method of an interface or a superclass. */
        static Pointcut methods() {
            return new AnnotationMatchingPointcut(null, Permit.class, true);
        }

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
            AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
        }
    }

    /** The health {@code portcullis}. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty("portcullis.url")
    @ConditionalOnProperty(name = "management.health.portcullis.enabled", matchIfMissing = true)
    @Import({ServiceHealth.OfBoot3.class, ServiceHealth.OfBoot4.class})
    static class Health {}
}
