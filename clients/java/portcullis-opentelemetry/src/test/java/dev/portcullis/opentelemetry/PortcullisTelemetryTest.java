package dev.portcullis.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.portcullis.client.Check;
import dev.portcullis.client.Portcullis;
import dev.portcullis.client.UnavailableException;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PortcullisTelemetryTest {
    @RegisterExtension
    static final OpenTelemetryExtension TELEMETRY = OpenTelemetryExtension.create();

    @Test
    void callsAreSpansAndMeasured() throws Exception {
        List<String> parents = new CopyOnWriteArrayList<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            parents.add(exchange.getRequestHeaders().getFirst("traceparent"));
            byte[] body = "{\"decision\":\"allow\"}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(parents.size() == 1 ? 200 : 500, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        String url = "http://127.0.0.1:" + server.getAddress().getPort();
        Portcullis.Builder builder = Portcullis.builder().url(url).serviceKey("key").timeout(Duration.ofSeconds(5));
        try (Portcullis client = builder.observer(PortcullisTelemetry.of(TELEMETRY.getOpenTelemetry())).build()) {
            client.check(Check.of("ann", "chart:read"));
            assertThrows(UnavailableException.class, () -> client.check(Check.of("ann", "chart:read")));
        } finally {
            server.stop(0);
        }
        List<SpanData> spans = TELEMETRY.getSpans();
        assertEquals(List.of("portcullis.check", "portcullis.check"), spans.stream().map(SpanData::getName).toList());
        assertEquals(
                List.of("{operation=check, outcome=allowed}", "{operation=check, outcome=unavailable}"),
                spans.stream().map(span -> named(span).toString()).toList());
        assertTrue(parents.get(0).contains(spans.get(0).getSpanId()), parents.get(0));
        MetricData measured = TELEMETRY.getMetrics().stream()
                .filter(metric -> metric.getName().equals("portcullis.client.duration"))
                .findFirst().orElseThrow();
        assertEquals("s 2", measured.getUnit() + " " + measured.getHistogramData().getPoints().size());
    }

    private static Map<String, Object> named(SpanData span) {
        Map<String, Object> attributes = new TreeMap<>();
        span.getAttributes().forEach((key, value) -> attributes.put(key.getKey(), value));
        return attributes;
    }
}
