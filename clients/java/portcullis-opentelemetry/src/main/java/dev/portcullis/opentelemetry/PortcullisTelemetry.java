package dev.portcullis.opentelemetry;

import dev.portcullis.client.Observer;
import dev.portcullis.client.Outcome;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.HashMap;
import java.util.Map;

/**
 * Makes a span {@code portcullis.<operation>} of each call, whose context goes along with its requests, and records
 * {@code portcullis.client.duration}. No attribute has a value of a check.
 */
public final class PortcullisTelemetry implements Observer {
    private static final String SCOPE = "dev.portcullis.client";
    private static final AttributeKey<String> OPERATION = AttributeKey.stringKey("operation");
    private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("outcome");

    private final Tracer tracer;
    private final DoubleHistogram duration;
    private final TextMapPropagator propagator;

    private PortcullisTelemetry(OpenTelemetry telemetry) {
        tracer = telemetry.getTracer(SCOPE);
        duration = telemetry.getMeter(SCOPE)
                .histogramBuilder("portcullis.client.duration")
                .setUnit("s")
                .setDescription("The time of a call, with all its attempts.")
                .build();
        propagator = telemetry.getPropagators().getTextMapPropagator();
    }

    /** Returns an observer for the builder of a client. */
    public static PortcullisTelemetry of(OpenTelemetry telemetry) {
        return new PortcullisTelemetry(telemetry);
    }

    @Override
    public Observation start(String operation) {
        Span span = tracer.spanBuilder("portcullis." + operation).setSpanKind(SpanKind.CLIENT).startSpan();
        Context context = Context.current().with(span);
        Map<String, String> headers = new HashMap<>();
        propagator.inject(context, headers, Map::put);
        long start = System.nanoTime();
        return new Observation() {
            @Override
            public Map<String, String> headers() {
                return headers;
            }

            @Override
            public void end(Outcome outcome) {
                Attributes attributes = Attributes.of(OPERATION, operation, OUTCOME, outcome.toString());
                duration.record((System.nanoTime() - start) / 1e9, attributes, context);
                if (outcome == Outcome.UNAVAILABLE || outcome == Outcome.REJECTED) {
                    span.setStatus(StatusCode.ERROR);
                }
                span.setAllAttributes(attributes).end();
            }
        };
    }
}
