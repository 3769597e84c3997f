package sample;

import dev.portcullis.spring.Permit;
import dev.portcullis.spring.PortcullisAuthorizationManager;
import dev.portcullis.spring.ProtectedResource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
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
    SecurityFilterChain security(HttpSecurity http, PortcullisAuthorizationManager portcullis, Environment environment) throws Exception {
        if (environment.getProperty("sample.basic", Boolean.class, true)) {
            http.httpBasic(Customizer.withDefaults());
        }
        return http.authorizeHttpRequests(requests ->
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

    interface Notes {
        @Permit("note:read")
        String read();

        @Permit(value = "note:find", attributes = {"resource.tags=#tags", "resource.ids=#ids", "resource.ward=#ward", "resource.bed=#bed"})
        String find(String[] tags, List<UUID> ids, Optional<String> ward, Optional<String> bed);

        @Permit(value = "note:write", attributes = "resource.id=#nobodyHasThisName")
        String write(String id);
    }

    @Service
    static class StoredNotes implements Notes {
        @Override
        public String read() {
            return "notes";
        }

        @Override
        public String find(String[] words, List<UUID> ward, Optional<String> where, Optional<String> tags) {
            return "found";
        }

        @Override
        public String write(String id) {
            return "written";
        }
    }

    @RestController
    static class Handlers {
        private final Charts charts;
        private final Notes notes;

        Handlers(Charts charts, Notes notes) {
            this.charts = charts;
            this.notes = notes;
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

        @GetMapping("/notes")
        String notes() {
            return notes.read();
        }

        @GetMapping("/notes/found")
        String foundNotes() {
            List<UUID> ids = List.of(UUID.fromString("7d7b3c1e-0000-4000-8000-000000000007"));
            return notes.find(new String[] {"a", "b"}, ids, Optional.of("er"), Optional.empty());
        }

        @GetMapping("/notes/written")
        String writtenNotes() {
            return notes.write("n-1");
        }

        @GetMapping("/wards")
        String wards() {
            return "wards";
        }
    }
}
