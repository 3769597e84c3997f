package sample;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.portcullis.spring.Permit;
import dev.portcullis.spring.PortcullisAutoConfiguration;
import dev.portcullis.spring.PortcullisProperties;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;

/** Tests the starter in an application, against a service that answers by the name or token of who asks. */
class StarterTest {
    private static final String CHART = "7d7b3c1e-0000-4000-8000-000000000007";
    /** What an application without a name registers. */
    private static final String UNNAMED = "[{\"name\":\"invoice:read\",\"displayName\":\"Read invoices\",\"defaultRoles\":[\"clerk\"]}]";

    private static final String[] NO_CREDENTIAL = {};
    /** The connection is closed without an answer. */
    private static final int CLOSED = 0;

    private static final AtomicInteger REGISTRATIONS = new AtomicInteger();
    private static final BlockingQueue<String> REGISTERED = new LinkedBlockingQueue<>();
    private static final BlockingQueue<String> REGISTERED_BY_OTHERS = new LinkedBlockingQueue<>();
    private static final BlockingQueue<String> CHECKED = new LinkedBlockingQueue<>();
    private static HttpServer service;
    private static ConfigurableApplicationContext application;

    @BeforeAll
    static void start() throws IOException {
        service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        service.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            String bearer = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")).replace("Bearer ", "");
            Answer answer = switch (path) {
                case "/token" -> token("admin");
                case "/auth/protocol/openid-connect/token" -> token("of-server");
                case "/issuer/protocol/openid-connect/token" -> token("of-issuer");
                case "/api/v1/resources/list" -> registered(bearer, body);
                case "/api/v1/resources/access/check" -> decision(bearer);
                case "/api/v1/check" -> checked(body);
                case "/healthz/ready" -> new Answer(200, "{\"status\":\"ok\"}");
                default -> new Answer(404, "{}");
            };
            if (answer.status() == CLOSED) {
                exchange.close();
                return;
            }
            byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(answer.status(), bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        service.start();
        application = SpringApplication.run(Application.class, options());
    }

    private static Answer token(String token) {
        return new Answer(200, "{\"access_token\":\"" + token + "\",\"expires_in\":300}");
    }

    private static String url() {
        return "http://127.0.0.1:" + service.getAddress().getPort();
    }

    private static String[] options() {
        String url = url();
        return new String[] {
            "--server.port=0", "--spring.application.name=billing", "--portcullis.url=" + url, "--portcullis.service-key=k3y",
            "--portcullis.timeout=5s", "--portcullis.registration.token-uri=" + url + "/token", "--ADMIN_CLIENT_ID=id",
            "--portcullis.registration.client-secret=s3cret", "--management.endpoint.health.show-details=always"
        };
    }

    @AfterAll
    static void stop() {
        application.close();
        service.stop(0);
    }

    private record Answer(int status, String body) {}

    /** Fails at first, so that the registration is tried again. */
    private static Answer registered(String bearer, String body) {
        if (bearer.equals("admin") && REGISTRATIONS.getAndIncrement() == 0) {
            return new Answer(500, "{}");
        }
        (bearer.equals("admin") ? REGISTERED : REGISTERED_BY_OTHERS).add(bearer + " " + body);
        return new Answer(200, "[]");
    }

    private static Answer checked(String body) {
        CHECKED.add(body);
        return decision(body.replaceAll(".*\"subject\":\"([^\"]*)\".*", "$1"));
    }

    private static Answer decision(String who) {
        return switch (who) {
            case "ann" -> new Answer(200, "{\"allowed\":true,\"decision\":\"allow\",\"matched_rule_id\":\"r1\",\"reason\":\"secret reason\"}");
            case "bob" -> new Answer(200, "{\"allowed\":false,\"decision\":\"deny\",\"matched_rule_id\":\"r2\",\"reason\":\"secret reason\"}");
            case "old" -> new Answer(401, "{\"error\":\"UNAUTHORIZED\",\"message\":\"expired\"}");
            case "eve" -> new Answer(CLOSED, "");
            case "odd" -> new Answer(400, "{\"error\":\"VALIDATION_FAILED\",\"message\":\"no such resource\"}");
            default -> new Answer(500, "{}");
        };
    }

    private static HttpResponse<String> get(String path, String... credential) throws Exception {
        return getFrom(application.getEnvironment().getProperty("local.server.port"), path, credential);
    }

    private static HttpResponse<String> getFrom(String port, String path, String... credential) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
        if (credential.length > 0) {
            request.header("Authorization", credential[0]);
        }
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String[] basic(String user) {
        return new String[] {"Basic " + Base64.getEncoder().encodeToString((user + ":pw").getBytes(StandardCharsets.UTF_8))};
    }

    private static void isProblem(int status, HttpResponse<String> answer) {
        assertEquals(status, answer.statusCode(), answer.body());
        assertEquals("application/problem+json", answer.headers().firstValue("content-type").orElse(""));
        assertEquals(status == 503 ? "1" : "", answer.headers().firstValue("retry-after").orElse(""));
        assertTrue(answer.body().contains("\"status\":" + status), answer.body());
        assertFalse(answer.body().contains("secret reason"), answer.body());
    }

    @Test
    void handlersAreCheckedByTheTokenOfTheCaller() throws Exception {
        assertEquals("invoices", get("/invoices", "Bearer ann").body());
        isProblem(401, get("/invoices"));
        isProblem(403, get("/invoices", "Bearer bob"));
        isProblem(401, get("/invoices", "Bearer old"));
        isProblem(500, get("/invoices", "Bearer odd"));
        isProblem(503, get("/invoices", "Bearer zoe"));
        isProblem(503, get("/invoices", "Bearer eve"));
    }

    @Test
    void methodsAreCheckedByTheAuthenticatedName() throws Exception {
        CHECKED.clear();
        assertEquals("chart " + CHART, get("/charts/" + CHART, basic("ann")).body());
        String sent = CHECKED.poll();
        assertTrue(sent.contains("\"attributes\":{\"resource\":{\"id\":\"" + CHART + "\"}}"), sent);
        isProblem(401, get("/charts/" + CHART, NO_CREDENTIAL));
        isProblem(403, get("/charts/" + CHART, basic("bob")));
        isProblem(503, get("/charts/" + CHART, basic("zoe")));
        isProblem(503, get("/charts/" + CHART, basic("eve")));
    }

    @Test
    void methodsOfAnnotatedInterfacesAreChecked() throws Exception {
        assertEquals("notes", get("/notes", basic("ann")).body());
        isProblem(403, get("/notes", basic("bob")));
    }

    @Test
    void argumentsHaveTheNamesOfTheAnnotatedMethod() throws Exception {
        CHECKED.clear();
        assertEquals("found", get("/notes/found", basic("ann")).body());
        String sent = CHECKED.poll();
        assertTrue(
                sent.contains("\"attributes\":{\"resource\":{\"tags\":[\"a\",\"b\"],\"ids\":[\"" + CHART + "\"],\"ward\":\"er\"}}"),
                sent);
        CHECKED.clear();
        assertEquals(500, get("/notes/written", basic("ann")).statusCode());
        assertTrue(CHECKED.isEmpty(), "a check without its attribute");
    }

    @Test
    void nobodyIsA401AlsoWithoutAWayToAuthenticate() throws Exception {
        try (ConfigurableApplicationContext other = SpringApplication.run(Application.class, "--server.port=0",
                "--portcullis.url=" + url(), "--portcullis.service-key=k3y", "--sample.basic=false")) {
            String port = other.getEnvironment().getProperty("local.server.port");
            for (String path : List.of("/charts/" + CHART, "/wards")) {
                isProblem(401, getFrom(port, path));
            }
        }
    }

    /** It is public, since another class loader makes its proxy. */
    public static class Plain {
        @Permit("chart:read")
        public String read() {
            return "chart";
        }
    }

    @Test
    void methodsDoNotRunWithoutSpringSecurity() {
        new ApplicationContextRunner()
                .withClassLoader(new FilteredClassLoader("org.springframework.security"))
                .withConfiguration(AutoConfigurations.of(PortcullisAutoConfiguration.class))
                .withBean(Plain.class)
                .run(context -> assertThrows(IllegalStateException.class, context.getBean(Plain.class)::read));
    }

    @Test
    void requestsAreCheckedByTheManager() throws Exception {
        assertEquals("wards", get("/wards", basic("ann")).body());
        HttpResponse<String> nobody = get("/wards", NO_CREDENTIAL);
        isProblem(401, nobody);
        assertTrue(nobody.headers().firstValue("www-authenticate").orElse("").startsWith("Basic"), nobody.headers().toString());
        isProblem(403, get("/wards", basic("bob")));
        isProblem(503, get("/wards", basic("zoe")));
        isProblem(503, get("/wards", basic("eve")));
    }

    @Test
    void resourcesAreRegisteredAgainAfterAFailure() throws Exception {
        String sent = REGISTERED.poll(30, TimeUnit.SECONDS);
        assertNotNull(sent, "no registration");
        assertEquals(
                "admin [{\"name\":\"invoice:read\",\"displayName\":\"Read invoices\",\"serviceName\":\"billing\",\"defaultRoles\":[\"clerk\"]}]",
                sent);
    }

    @Test
    void tokensForTheRegistrationComeFromTheServerElseTheIssuer() {
        String issuer = "--spring.security.oauth2.resourceserver.jwt.issuer-uri=" + url() + "/issuer/";
        String secret = "--ADMIN_CLIENT_SECRET=s3cret";
        assertEquals("of-server " + UNNAMED, registeredBy(issuer, secret, "--AUTH_SERVER_URL=" + url() + "/auth"));
        assertEquals("of-issuer " + UNNAMED, registeredBy(issuer, secret));
        assertNull(registeredBy(issuer));
        assertNull(registeredBy(secret));
        assertNull(registeredBy(issuer, secret, "--portcullis.registration.enabled=false"));
    }

    /** Starts another application, without a name, and returns what it registers at its start. */
    private static String registeredBy(String... options) {
        List<String> all = new ArrayList<>(List.of("--server.port=0", "--portcullis.url=" + url(), "--portcullis.service-key=k3y",
                "--portcullis.timeout=5s", "--ADMIN_CLIENT_ID=id"));
        all.addAll(List.of(options));
        try (ConfigurableApplicationContext other = SpringApplication.run(Application.class, all.toArray(String[]::new))) {
            assertTrue(other.isRunning());
            return REGISTERED_BY_OTHERS.poll();
        }
    }

    @Test
    void failureOfTheRegistrationEndsTheStartIfSo() {
        assertThrows(Exception.class, () -> {
            try (ConfigurableApplicationContext other = SpringApplication.run(Application.class, "--server.port=0",
                    "--portcullis.url=http://127.0.0.1:1", "--portcullis.registration.token-uri=http://127.0.0.1:1/token",
                    "--ADMIN_CLIENT_ID=id", "--ADMIN_CLIENT_SECRET=secret", "--portcullis.registration.fail-fast=true")) {
                other.getId();
            }
        });
    }

    @Test
    void applicationStartsWithoutAnyOption() {
        try (ConfigurableApplicationContext other = SpringApplication.run(Application.class, "--server.port=0")) {
            assertTrue(other.isRunning());
        }
    }

    @Test
    void noTextFormHasACredential() {
        String shown = application.getBean(PortcullisProperties.class) + " " + application.getBean(PortcullisProperties.class).registration();
        assertFalse(shown.contains("s3cret") || shown.contains("k3y"), shown);
    }

    @Test
    void healthIsThatOfTheService() throws Exception {
        HttpResponse<String> answer = get("/actuator/health/portcullis");
        assertEquals(200, answer.statusCode(), answer.body());
        assertTrue(answer.body().contains("UP"), answer.body());
    }
}
