package todo;

import dev.portcullis.client.Portcullis;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/**
 * The todo application of AuthZEN's interop events. {@code PORTCULLIS_URL} and {@code PORTCULLIS_TOKEN} say who decides,
 * {@code TODOS} is a file with people and todos. Everybody's password is {@code todo}.
 */
@SpringBootApplication
public class Application {
    public static void main(String[] arguments) {
        SpringApplication.run(Application.class, arguments);
    }

    @Bean(destroyMethod = "close")
    Portcullis portcullis(Environment environment) {
        return Portcullis.builder()
                .url(environment.getRequiredProperty("PORTCULLIS_URL"))
                .token(environment.getRequiredProperty("PORTCULLIS_TOKEN"))
                .timeout(Duration.ofSeconds(5))
                .retryBudget(1)
                .build();
    }

    @Bean
    Data data(Environment environment) throws IOException {
        String text = Files.readString(Path.of(environment.getProperty("TODOS", "todos.json")));
        return Data.of(JsonParserFactory.getJsonParser().parseMap(text));
    }

    @Bean
    SecurityFilterChain security(HttpSecurity http) throws Exception {
        return http.httpBasic(Customizer.withDefaults())
                .csrf(AbstractHttpConfigurer::disable)
                .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                .build();
    }

    @Bean
    UserDetailsService users(Data data) {
        InMemoryUserDetailsManager users = new InMemoryUserDetailsManager();
        data.people().forEach((name, roles) -> users.createUser(
                User.withUsername(name).password("{noop}todo").authorities(roles.toArray(String[]::new)).build()));
        return users;
    }

    /** Prints the address. */
    @Bean
    ApplicationRunner address(Environment environment) {
        return arguments -> System.out.println("http://127.0.0.1:" + environment.getProperty("local.server.port"));
    }
}
