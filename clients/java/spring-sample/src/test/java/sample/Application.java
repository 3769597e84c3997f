package sample;

import dev.portcullis.spring.Permit;
import dev.portcullis.spring.PortcullisAuthorizationManager;
import dev.portcullis.spring.ProtectedResource;
import java.util.UUID;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** An application that is protected in each way of the starter. */
@SpringBootApplication
class Application {
    @Bean
    SecurityFilterChain security(HttpSecurity http, PortcullisAuthorizationManager portcullis) throws Exception {
        return http.httpBasic(Customizer.withDefaults())
                .authorizeHttpRequests(requests ->
                        requests.requestMatchers("/wards").access(portcullis.of("ward:read")).anyRequest().permitAll())
                .build();
    }

    @Bean
    UserDetailsService users() {
        InMemoryUserDetailsManager users = new InMemoryUserDetailsManager();
        for (String name : new String[] {"ann", "bob", "zoe", "eve"}) {
            users.createUser(User.withUsername(name).password("{noop}pw").build());
        }
        return users;
    }

    @Service
    static class Charts {
        @Permit(value = "chart:read", attributes = {"resource.id=#id", "context.absent=null"})
        String read(UUID id) {
            return "chart " + id;
        }
    }

    @RestController
    static class Handlers {
        private final Charts charts;

        Handlers(Charts charts) {
            this.charts = charts;
        }

        @ProtectedResource(name = "invoice:read", displayName = "Read invoices", defaultRoles = {"clerk"})
        @GetMapping("/invoices")
        String invoices() {
            return "invoices";
        }

        @GetMapping("/charts/{id}")
        String chart(@PathVariable("id") UUID id) {
            return charts.read(id);
        }

        @GetMapping("/wards")
        String wards() {
            return "wards";
        }
    }
}
