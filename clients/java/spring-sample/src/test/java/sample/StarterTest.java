package sample;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.portcullis.spring.PortcullisProperties;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Tests the starter in an application, against a service that answers by the name or token of who asks. */
class StarterTest {
    private static final String CHART = "7d7b3c1e-0000-4000-8000-000000000007";
    private static final String[] NO_CREDENTIAL = {};
    /** The connection is closed without an answer. */
    private static final int CLOSED = 0;

    private static final AtomicInteger REGISTRATIONS = new AtomicInteger();
    private static final BlockingQueue<String> REGISTERED = new LinkedBlockingQueue<>();
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
                case "/token" -> new Answer(200, "{\"access_token\":\"admin\",\"expires_in\":300}");
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

    private static String[] options() {
        String url = "http://127.0.0.1:" + service.getAddress().getPort();
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
        if (REGISTRATIONS.getAndIncrement() == 0) {
            return new Answer(500, "{}");
        }
        REGISTERED.add(bearer + " " + body);
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
        String port = application.getEnvironment().getProperty("local.server.port");
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
        assertEquals(401, get("/charts/" + CHART, NO_CREDENTIAL).statusCode());
        isProblem(403, get("/charts/" + CHART, basic("bob")));
        isProblem(503, get("/charts/" + CHART, basic("zoe")));
        isProblem(503, get("/charts/" + CHART, basic("eve")));
    }

    @Test
    void requestsAreCheckedByTheManager() throws Exception {
        assertEquals("wards", get("/wards", basic("ann")).body());
        assertEquals(401, get("/wards", NO_CREDENTIAL).statusCode());
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
