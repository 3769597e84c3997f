package dev.portcullis.client;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a check costs beside the same request by the JDK's client, what an outage costs, when calls end, and what stays in memory.
 * {@code clients/bench} starts the server ({@code FIXED_URL}) and calls this.
 */
public final class Bench {
    private static final int PAIRS = 31;
    private static final int CALLS = 1000;
    private static final String URL = System.getenv("FIXED_URL");
    private static final Check CHECK =
            Check.of("ann", "chart:read").attribute("resource.id", "c-17").attribute("resource.ward", "w-3");
    private static final String BODY = Json.write(Map.of(
            "subject", "ann", "resource", "chart:read", "action", "read", "attributes", Map.of("resource", Map.of("id", "c-17", "ward", "w-3"))));
    private static final String REQUEST_ID = "7d7b3c1e-0000-4000-8000-000000000007";
    private static final HttpClient BARE = HttpClient.newHttpClient();

    private interface Call {
        void run() throws IOException, InterruptedException;
    }

    private record Cost(double cpu, double clock) {
        static Cost of(Call call) throws IOException, InterruptedException {
            OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            long cpu = process.getProcessCpuTime();
            long clock = System.nanoTime();
            for (int time = 0; time < CALLS; time += 1) {
                call.run();
            }
            return new Cost(process.getProcessCpuTime() - cpu, System.nanoTime() - clock);
        }
    }

    private Bench() {}

    public static void main(String[] arguments) throws Exception {
        try (Portcullis portcullis = client("/allow", Duration.ofSeconds(10))) {
            Call own = () -> require(portcullis.check(CHECK).allowed());
            // The JVM counts in steps of 10 ms, so that single pairs say nothing of it.
            double cpu = 0;
            double bareCpu = 0;
            List<Double> clock = new ArrayList<>();
            for (int pair = -10; pair < PAIRS; pair += 1) {
                // Each is the first in every other pair.
                Cost first = pair % 2 == 0 ? null : Cost.of(own);
                Cost other = Cost.of(Bench::bare);
                Cost ours = first == null ? Cost.of(own) : first;
                if (pair >= 0) {
                    cpu += ours.cpu();
                    bareCpu += other.cpu();
                    clock.add(ours.clock() / other.clock());
                }
            }
            System.out.printf("java: a check costs %.2f × the CPU time and %.2f × the time of the JDK's client%n", cpu / bareCpu, median(clock));
            System.out.println("java: KiB in use after each 10,000 checks: " + kept(own));
        }
        outage();
        deadline();
        System.exit(0);
    }

    private static void bare() throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(URL + "/allow/api/v1/check"))
                .header("accept", "application/json")
                .header("content-type", "application/json")
                .header("x-service-api-key", "key")
                .header("x-request-id", REQUEST_ID)
                .header("user-agent", "portcullis-java/" + Version.VERSION)
                .POST(HttpRequest.BodyPublishers.ofString(BODY))
                .build();
        require(BARE.send(request, HttpResponse.BodyHandlers.ofString()).body().contains("\"allow\""));
    }

    private static List<Long> kept(Call call) throws IOException, InterruptedException {
        List<Long> kept = new ArrayList<>();
        for (int part = 0; part < 4; part += 1) {
            for (int time = 0; time < 10; time += 1) {
                Cost.of(call);
            }
            System.gc();
            kept.add((Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) / 1024);
        }
        return kept;
    }

    private static void outage() throws IOException, InterruptedException {
        long before = count();
        try (Portcullis down = client("/busy", Duration.ofSeconds(10))) {
            for (int call = 0; call < 1000; call += 1) {
                fail(down);
            }
        }
        System.out.println("java: 1000 calls in an outage make " + (count() - before - 1000) + " more requests");
    }

    private static void deadline() {
        List<Double> late = new ArrayList<>();
        try (Portcullis hanging = client("/hang", Duration.ofMillis(100))) {
            for (int call = 0; call < 40; call += 1) {
                long start = System.nanoTime();
                fail(hanging);
                late.add((System.nanoTime() - start) / 1e6 - 100);
            }
        }
        double latest = late.stream().max(Double::compare).orElseThrow();
        System.out.printf("java: calls end %.1f ms after their deadline, at the latest %.1f ms%n", median(late), latest);
    }

    private static Portcullis client(String path, Duration timeout) {
        return Portcullis.builder().url(URL + path).serviceKey("key").timeout(timeout).build();
    }

    private static void fail(Portcullis portcullis) {
        try {
            portcullis.check(CHECK);
        } catch (UnavailableException expected) {
            return;
        }
        throw new AssertionError("a decision in an outage");
    }

    private static long count() throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(URL + "/count")).build();
        return Long.parseLong(BARE.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }

    private static void require(boolean holds) {
        if (!holds) {
            throw new AssertionError("no allow");
        }
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
