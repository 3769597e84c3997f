package dev.portcullis.client;

import com.sun.net.httpserver.HttpServer;
import dev.portcullis.test.DevServer;
import dev.portcullis.test.FakePortcullis;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;

/** Tests of what the scenarios cannot see: JSON, text forms, the surface, doubles, and the README. Runs in `clients/java`. */
public final class Units {
    private static final String ALLOW = "{\"decision\":\"allow\",\"matched_rule_id\":\"r1\",\"reason\":\"ok\"}";
    // It is kept here, since a logger that nobody holds forgets its level.
    private static final Logger LOG = Logger.getLogger(Portcullis.class.getName());
    private static final String NOWHERE = "http://127.0.0.1:1";

    private Units() {}

    public static void main(String[] arguments) throws Exception {
        List<Method> tests = Arrays.stream(Units.class.getDeclaredMethods())
                .filter(method -> method.getName().startsWith("test"))
                .sorted((one, other) -> one.getName().compareTo(other.getName()))
                .toList();
        int failed = 0;
        for (Method test : tests) {
            try {
                test.invoke(null);
            } catch (ReflectiveOperationException error) {
                failed += 1;
                System.err.println("failed: " + test.getName());
                error.getCause().printStackTrace();
            }
        }
        System.out.println("java: " + (tests.size() - failed) + " of " + tests.size() + " unit tests");
        System.exit(failed == 0 ? 0 : 1);
    }

    private static void equal(Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            throw new AssertionError("expected " + expected + ", got " + got);
        }
    }

    private static void isTrue(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    private static <T extends Throwable> T thrown(Class<T> type, Callable<?> work) {
        try {
            throw new AssertionError("expected " + type + ", got " + work.call());
        } catch (Throwable error) {
            if (!type.isInstance(error)) {
                throw new AssertionError("expected " + type, error);
            }
            return type.cast(error);
        }
    }

    /** A server that answers every request alike. */
    private record Server(HttpServer server, String url) implements AutoCloseable {
        static Server answering(int status, String body, String... header) throws IOException {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", exchange -> {
                exchange.getRequestBody().readAllBytes();
                byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
                if (header.length > 0) {
                    exchange.getResponseHeaders().set(header[0], header[1]);
                }
                exchange.sendResponseHeaders(status, bytes.length);
                exchange.getResponseBody().write(bytes);
                exchange.close();
            });
            server.setExecutor(command -> daemon(() -> {
                command.run();
                return null;
            }));
            server.start();
            return new Server(server, "http://127.0.0.1:" + server.getAddress().getPort());
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }

    private static Portcullis client(String url) {
        return Portcullis.builder().url(url).serviceKey("key").build();
    }

    static void testJsonIsReadAsItIsWritten() {
        Random random = new Random(1);
        for (int round = 0; round < 20_000; round += 1) {
            Object value = value(random, 4);
            equal(value, JsonReader.read(Json.write(value)));
        }
    }

    private static Object value(Random random, int depth) {
        switch (random.nextInt(depth > 0 ? 9 : 7)) {
            case 0:
                return null;
            case 1:
                return random.nextBoolean();
            case 2:
                return random.nextLong() >> random.nextInt(64);
            case 3:
                return BigInteger.valueOf(Long.MAX_VALUE).add(BigInteger.valueOf(1 + random.nextInt(9)));
            case 4:
                return random.nextGaussian() * Math.pow(10, random.nextInt(600) - 300);
            case 5, 6:
                return random.ints(random.nextInt(8), 0, 0x180)
                        .mapToObj(character -> (char) (random.nextInt(9) == 0 ? character + 0xd780 : character))
                        .map(String::valueOf)
                        .collect(Collectors.joining());
            case 7:
                List<Object> items = new ArrayList<>();
                random.ints(random.nextInt(4)).forEach(item -> items.add(value(random, depth - 1)));
                return items;
            default:
                Map<String, Object> members = new LinkedHashMap<>();
                random.ints(random.nextInt(4)).forEach(item -> members.put("m" + item, value(random, depth - 1)));
                return members;
        }
    }

    /** Whatever comes, the reader gives a value or a fault, and what it takes it also writes and takes again. */
    static void testJsonReaderHasNoOtherFaults() {
        Random random = new Random(2);
        String letters = "{}[]\",:\\ue09-+.0123tfnrulasE \n\t\u00e9\u2028x";
        for (int round = 0; round < 100_000; round += 1) {
            String text = random.nextBoolean() ? Json.write(value(random, 3)) : "";
            StringBuilder changed = new StringBuilder(text);
            for (int change = random.nextInt(4); change >= 0; change -= 1) {
                changed.insert(random.nextInt(changed.length() + 1), letters.charAt(random.nextInt(letters.length())));
            }
            try {
                Object value = JsonReader.read(changed.toString());
                boolean isInfinite = changed.toString().toLowerCase().contains("e");
                isTrue(isInfinite || Objects.equals(value, JsonReader.read(Json.write(value))), changed.toString());
            } catch (JsonException fault) {
                // As it should be.
            }
        }
    }

    static void testJsonReaderTakesAndRefuses() {
        String[] good = {"0", "-0", "1e5", "1.5E-3", "\"\\ud83d\\ude00\"", " [ ] ", "{\"a\":{}}", "true", "\"\\/\"", "[1 , 2]"};
        for (String text : good) {
            JsonReader.read(text);
        }
        String[] bad = {
            "", " ", "01", "1.", ".5", "+1", "1e", "--1", "tru", "nulls", "[1,]", "[,1]", "{\"a\"}", "{a:1}", "{\"a\":1,}", "\"\n\"", "\"\\x\"",
            "\"\\u12g4\"", "\"\\u\u0661\u0661\u0661\u0661\"", "\"a", "[1", "{", "1 2", "{}{}", "\ufeff1", "\u00a01", "NaN", "Infinity", "'a'"
        };
        for (String text : bad) {
            thrown(JsonException.class, () -> JsonReader.read(text));
        }
        thrown(JsonException.class, () -> JsonReader.read(new byte[] {'"', (byte) 0xff, '"'}));
        thrown(JsonException.class, () -> JsonReader.read("[".repeat(100_000)));
        equal(2L, Json.object(JsonReader.read("{\"a\":1,\"a\":2}")).get("a"));
        // Not exact, but not the work of minutes either.
        equal(Double.POSITIVE_INFINITY, JsonReader.read("9".repeat(1_000_000)));
    }

    static void testJsonWriterRefusesWhatJsonHasNot() {
        Map<String, Object> circle = new LinkedHashMap<>();
        circle.put("circle", circle);
        for (Object value : new Object[] {Double.NaN, new Object(), Map.of(1, 2), circle}) {
            try (Portcullis client = client(NOWHERE)) {
                equal("INVALID_CALL", thrown(RejectedException.class, () -> client.request("POST", "/", value)).code());
            }
        }
    }

    static void testClientHasEachOperationOfTheList() throws IOException {
        Set<String> expected = new TreeSet<>();
        for (MatchResult operation : matches("operation: ([a-z_]+)", Files.readString(Path.of("../operations.yaml")))) {
            String name = Pattern.compile("_([a-z])").matcher(operation.group(1)).replaceAll(it -> it.group(1).toUpperCase());
            expected.add(name);
            if (!name.equals("revision")) {
                expected.add(name + "Async");
            }
        }
        Set<String> methods = Arrays.stream(Portcullis.class.getMethods()).map(Method::getName).collect(Collectors.toCollection(TreeSet::new));
        methods.removeAll(Set.of("builder", "close"));
        equal(expected, methods);
    }

    static void testCheckHasEachMemberOfTheList() throws IOException {
        String taken = matches("operation: check,[^\\[]*\\[([^\\]]*)", Files.readString(Path.of("../operations.yaml"))).get(0).group(1);
        Set<String> methods = Arrays.stream(Check.class.getMethods()).map(Method::getName).collect(Collectors.toSet());
        equal(true, methods.containsAll(List.of(taken.split(", "))));
    }

    private static List<MatchResult> matches(String pattern, String text) {
        return Pattern.compile(pattern, Pattern.DOTALL).matcher(text).results().toList();
    }

    static void testNoTextFormHasACredential() throws IOException {
        try (Server server = Server.answering(401, "{\"error\":\"UNAUTHORIZED\",\"message\":\"unknown\"}")) {
            ClientCredentials credentials = new ClientCredentials(server.url() + "/token", "id", "s3cret", null);
            List<Portcullis.Builder> builders = List.of(
                    Portcullis.builder().serviceKey("s3cret"),
                    Portcullis.builder().token("s3cret"),
                    Portcullis.builder().clientCredentials(credentials),
                    Portcullis.builder().tokenProvider(() -> "s3cret"),
                    // No header can hold it.
                    Portcullis.builder().tokenProvider(() -> "s3cret\n"),
                    Portcullis.builder().tokenProvider(() -> {
                        throw new IllegalStateException("s3cret");
                    }));
            List<Object> shown = new ArrayList<>(List.of(credentials, Credential.serviceKey("s3cret"), Credential.token("s3cret")));
            shown.add(CallOptions.defaults().credential(Credential.token("s3cret")));
            shown.add(thrown(IllegalArgumentException.class, () -> Credential.token("s3cret\n")));
            shown.add(thrown(IllegalArgumentException.class, () -> Portcullis.builder().serviceKey("s3cret ")));
            String malformed = "http://u:s3cret@ho st";
            shown.add(thrown(IllegalArgumentException.class, () -> Portcullis.builder().url(malformed).serviceKey("k").build()));
            ClientCredentials nowhere = new ClientCredentials(malformed, "id", "secret", null);
            shown.add(thrown(IllegalArgumentException.class, () -> Portcullis.builder().url(NOWHERE).clientCredentials(nowhere).build()));
            for (Portcullis.Builder builder : builders) {
                try (Portcullis client = builder.url(server.url()).timeout(Duration.ofSeconds(5)).build()) {
                    shown.addAll(List.of(builder, client, thrown(PortcullisException.class, () -> client.check(Check.of("ann", "a:b")))));
                }
            }
            for (Object one : shown) {
                ByteArrayOutputStream text = new ByteArrayOutputStream();
                if (one instanceof Throwable error) {
                    error.printStackTrace(new PrintStream(text));
                }
                isTrue(!(one + text.toString(StandardCharsets.UTF_8)).contains("s3cret"), "a credential is shown by " + one.getClass());
            }
        }
    }

    static void testOptionsThatCannotBeAreRefused() {
        thrown(IllegalArgumentException.class, () -> Portcullis.builder().url(NOWHERE).serviceKey("a").token("b").build());
        thrown(IllegalArgumentException.class, () -> Portcullis.builder().url("http://user:pass@host").serviceKey("a").build());
        thrown(IllegalArgumentException.class, () -> Cache.of(Duration.ofSeconds(6)));
        thrown(IllegalArgumentException.class, () -> CallOptions.defaults().timeout(Duration.ZERO));
        thrown(IllegalArgumentException.class, () -> Check.of("ann", "a:b").attribute("id", 1));
    }

    static void testTooManyChecksAreRejectedWithoutARequest() {
        try (Portcullis client = client(NOWHERE)) {
            List<Check> checks = Collections.nCopies(10_001, Check.of("ann", "a:b"));
            equal(0, thrown(RejectedException.class, () -> client.checks(checks)).attempts());
        }
    }

    static void testServiceThatIsNotThereIsUnavailable() {
        try (Portcullis client = client(NOWHERE)) {
            UnavailableException failure = thrown(UnavailableException.class, () -> client.check(Check.of("ann", "a:b")));
            equal("connect 3", failure.kind() + " " + failure.attempts());
            // The trace begins where the caller waits.
            isTrue(Arrays.stream(failure.getStackTrace()).anyMatch(at -> at.getClassName().equals(Units.class.getName())), "no caller");
        }
    }

    /** The JDK repeats a GET by itself: a further connection may be there, but no further request. */
    static void testTransportDoesNotRepeatByItself() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
            AtomicInteger requests = new AtomicInteger();
            daemon(() -> {
                while (true) {
                    try (Socket socket = server.accept()) {
                        requests.addAndGet(socket.getInputStream().read() >= 0 ? 1 : 0);
                    }
                }
            });
            String url = "http://127.0.0.1:" + server.getLocalPort();
            try (Portcullis client = Portcullis.builder().url(url).serviceKey("key").maxAttempts(1).timeout(Duration.ofSeconds(5)).build()) {
                UnavailableException failure = thrown(UnavailableException.class, () -> client.request("GET", "/"));
                equal("connect 1", failure.kind() + " " + failure.attempts());
                equal(1, requests.get());
            }
        }
    }

    private static void daemon(Callable<?> work) {
        Thread thread = new Thread(() -> {
            try {
                work.call();
            } catch (Exception ended) {
                // The test closes what it works with.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    static void testCancelledFutureCancelsTheRequest() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        CompletableFuture<Outcome> outcome = new CompletableFuture<>();
        try (ServerSocket server = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
            daemon(() -> {
                try (Socket socket = server.accept()) {
                    socket.getInputStream().read();
                    arrived.countDown();
                    socket.getInputStream().transferTo(OutputStream.nullOutputStream());
                } finally {
                    closed.countDown();
                }
                return null;
            });
            Portcullis.Builder builder = Portcullis.builder().url("http://127.0.0.1:" + server.getLocalPort()).serviceKey("key");
            try (Portcullis client = builder.timeout(Duration.ofMinutes(1)).observer(operation -> outcome::complete).build()) {
                CompletableFuture<Decision> asked = client.checkAsync(Check.of("ann", "a:b"));
                isTrue(arrived.await(10, TimeUnit.SECONDS), "no request");
                asked.cancel(true);
                isTrue(closed.await(10, TimeUnit.SECONDS), "the connection stays");
                equal(Outcome.ABORTED, outcome.get(10, TimeUnit.SECONDS));
            }
        }
    }

    static void testInterruptEndsTheWait() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
            Portcullis.Builder builder = Portcullis.builder().url("http://127.0.0.1:" + server.getLocalPort()).serviceKey("key");
            try (Portcullis client = builder.timeout(Duration.ofMinutes(1)).build()) {
                Thread.currentThread().interrupt();
                thrown(CancellationException.class, () -> client.check(Check.of("ann", "a:b")));
                isTrue(Thread.interrupted(), "the interrupt is lost");
            }
        }
    }

    static void testCallEndsByItsDeadline() throws IOException {
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String url = "http://127.0.0.1:" + full.getLocalPort();
            try (Portcullis client = Portcullis.builder().url(url).serviceKey("key").timeout(Duration.ofMillis(200)).build()) {
                long start = System.nanoTime();
                equal(Kind.TIMEOUT, thrown(UnavailableException.class, () -> client.check(Check.of("ann", "a:b"))).kind());
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
                // A busy machine may add to the 50 ms.
                isTrue(millis >= 190 && millis < 1000, "the call took " + millis + " ms");
            }
        }
    }

    static void testOneTokenForAllEvenIfTheFirstCallEnds() throws Exception {
        CountDownLatch given = new CountDownLatch(1);
        AtomicInteger asked = new AtomicInteger();
        try (Server server = Server.answering(200, ALLOW)) {
            Portcullis.Builder builder = Portcullis.builder().url(server.url()).tokenProvider(() -> {
                asked.incrementAndGet();
                try {
                    given.await();
                } catch (InterruptedException error) {
                    throw new IllegalStateException(error);
                }
                return "t1";
            });
            try (Portcullis client = builder.timeout(Duration.ofSeconds(30)).build()) {
                CallOptions hasty = CallOptions.defaults().timeout(Duration.ofMillis(50));
                CompletableFuture<Decision> patient = client.checkAsync(Check.of("ann", "a:b"));
                equal(Kind.TIMEOUT, thrown(UnavailableException.class, () -> client.check(Check.of("ann", "a:b"), hasty)).kind());
                given.countDown();
                isTrue(patient.get().allowed(), "denied");
                equal(1, asked.get());
            }
        }
    }

    static void testFlightThatEndsWithItsCallEndsNoOther() throws Exception {
        AtomicInteger tokens = new AtomicInteger();
        CountDownLatch over = new CountDownLatch(1);
        try (Server server = Server.answering(200, ALLOW)) {
            server.server().createContext("/token", exchange -> {
                byte[] token = "{\"access_token\":\"t1\",\"expires_in\":300}".getBytes(StandardCharsets.UTF_8);
                try {
                    // The requests of the two calls that end hang.
                    if (tokens.incrementAndGet() <= 2) {
                        over.await();
                    }
                    exchange.sendResponseHeaders(200, token.length);
                    exchange.getResponseBody().write(token);
                } catch (InterruptedException | IOException gone) {
                    // The caller has ended.
                } finally {
                    exchange.close();
                }
            });
            ClientCredentials credentials = new ClientCredentials(server.url() + "/token", "id", "secret", null);
            Portcullis.Builder builder = Portcullis.builder().url(server.url()).timeout(Duration.ofSeconds(30));
            try (Portcullis client = builder.clientCredentials(credentials).build()) {
                CompletableFuture<Object> interrupted = new CompletableFuture<>();
                Thread first = new Thread(() -> interrupted.complete(thrown(CancellationException.class, () -> client.check(Check.of("a", "a:b")))));
                first.start();
                waitFor(() -> tokens.get() == 1);
                CompletableFuture<Decision> joined = new CompletableFuture<>();
                Thread second = new Thread(() -> joined.complete(client.check(Check.of("b", "a:b"))));
                second.start();
                waitFor(() -> second.getState() == Thread.State.TIMED_WAITING);
                first.interrupt();
                interrupted.get(10, TimeUnit.SECONDS);
                // The second one has begun a flight of its own, which the deadline of none other bounds.
                waitFor(() -> tokens.get() == 2);
                long start = System.nanoTime();
                CallOptions hasty = CallOptions.defaults().timeout(Duration.ofMillis(100));
                equal(Kind.TIMEOUT, thrown(UnavailableException.class, () -> client.check(Check.of("c", "a:b"), hasty)).kind());
                isTrue(System.nanoTime() - start < 5_000_000_000L, "the call outlived its deadline");
                over.countDown();
                isTrue(joined.get(10, TimeUnit.SECONDS).allowed(), "denied");
            }
        } finally {
            over.countDown();
        }
    }

    /** The thread of a call that has ended does nothing for the calls that waited for its token. */
    static void testCallDoesNotWaitForTheTokenOfAnother() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
            String url = "http://127.0.0.1:" + silent.getLocalPort();
            Portcullis.Builder builder = Portcullis.builder().url(url).clientCredentials(new ClientCredentials(url, "id", "secret", null));
            try (Portcullis client = builder.timeout(Duration.ofSeconds(60)).build()) {
                CompletableFuture<Object> ended = new CompletableFuture<>();
                CallOptions soon = CallOptions.defaults().timeout(Duration.ofMillis(500));
                Thread hasty = new Thread(() -> ended.complete(thrown(UnavailableException.class, () -> client.check(Check.of("a", "a:b"), soon))));
                hasty.start();
                waitFor(() -> hasty.getState() != Thread.State.NEW && hasty.getState() != Thread.State.RUNNABLE);
                daemon(() -> client.check(Check.of("b", "a:b")));
                ended.get(30, TimeUnit.SECONDS);
            }
        }
    }

    static void testCloseLetsCallsEnd() throws Exception {
        for (boolean isAsync : new boolean[] {false, true}) {
            CountDownLatch arrived = new CountDownLatch(1);
            CountDownLatch closed = new CountDownLatch(1);
            try (Server server = Server.answering(404, "")) {
                server.server().createContext("/api/v1/check", exchange -> {
                    arrived.countDown();
                    try {
                        closed.await();
                    } catch (InterruptedException error) {
                        throw new IllegalStateException(error);
                    }
                    byte[] allow = ALLOW.getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(200, allow.length);
                    exchange.getResponseBody().write(allow);
                    exchange.close();
                });
                Portcullis client = Portcullis.builder().url(server.url()).serviceKey("key").timeout(Duration.ofSeconds(20)).build();
                CompletableFuture<Decision> asked = isAsync ? client.checkAsync(Check.of("ann", "a:b")) : new CompletableFuture<>();
                if (!isAsync) {
                    daemon(() -> asked.complete(client.check(Check.of("ann", "a:b"))));
                }
                isTrue(arrived.await(10, TimeUnit.SECONDS), "no request");
                client.close();
                closed.countDown();
                isTrue(asked.get(10, TimeUnit.SECONDS).allowed(), "denied");
                thrown(RejectedException.class, () -> client.check(Check.of("ann", "a:b")));
            }
        }
    }

    private static void waitFor(BooleanSupplier condition) throws InterruptedException {
        for (int turn = 0; turn < 1000 && !condition.getAsBoolean(); turn += 1) {
            Thread.sleep(10);
        }
        isTrue(condition.getAsBoolean(), "it does not happen");
    }

    static void testObserverAddsHeadersAndItsFaultsChangeNothing() throws IOException {
        try (Server server = Server.answering(200, ALLOW)) {
            List<String> told = new ArrayList<>();
            LOG.setLevel(Level.OFF);
            Observer observer = operation -> new Observer.Observation() {
                @Override
                public Map<String, String> headers() {
                    return Map.of("traceparent", "00-1-2-01");
                }

                @Override
                public void end(Outcome outcome) {
                    told.add(operation + " " + outcome);
                    throw new IllegalStateException("a fault of the test");
                }
            };
            Portcullis.Builder builder = Portcullis.builder().url(server.url()).serviceKey("key").observer(observer);
            try (Portcullis client = builder.timeout(Duration.ofSeconds(5)).build()) {
                isTrue(client.require(Check.of("ann", "a:b")).allowed(), "denied");
            }
            equal(List.of("require allowed"), told);
        }
    }

    static void testRevisionsJoinByTheHigherPart() {
        equal("7/9", Revision.parse("7/3").highest(Revision.parse("5/9")).toString());
        equal("5/3", Revision.parse("/3").highest(Revision.parse("5/")).toString());
        equal("/", Revision.parse("").highest(Revision.parse("x/y")).toString());
        equal(true, Revision.parse("7/3").reaches(Revision.parse("7/")));
        equal(false, Revision.parse("7/").reaches(Revision.parse("7/1")));
    }

    static void testCacheDropsItsOldestEntryAndHasABound() {
        AllowCache cache = new AllowCache(new Cache(Duration.ofSeconds(5), 2));
        Decision allow = new Decision(true, null, null, null, null, null, 1, false);
        List<AllowCache.Key> keys = List.of(key("a"), key("b"), key("c"));
        keys.forEach(key -> cache.put(key, allow));
        equal(List.of(false, true, true), keys.stream().map(key -> cache.get(key, Revision.NONE) != null).toList());
    }

    private static AllowCache.Key key(String body) {
        return new AllowCache.Key(Credential.token("t"), body);
    }

    static void testHalfOfAPairIsNoPartOfAnId() {
        try (Portcullis client = client(NOWHERE)) {
            equal(0, thrown(RejectedException.class, () -> client.putEntity("user", "a\ud800", Map.of())).attempts());
        }
    }

    static void testRetryAfterIsReadInBothForms() {
        equal(Duration.ofSeconds(7), RetryAfter.read(" 7 "));
        equal(Duration.ZERO, RetryAfter.read("Sun, 06 Nov 1994 08:49:37 GMT"));
        equal(null, RetryAfter.read("-1"));
    }

    static void testRetryAfterOfAnyLengthEndsTheCall() throws IOException {
        for (String far : List.of("999999999", "Fri, 31 Dec 9999 23:59:59 GMT")) {
            try (Server server = Server.answering(503, "", "Retry-After", far); Portcullis client = client(server.url())) {
                CallOptions patient = CallOptions.defaults().timeout(Duration.ofSeconds(30));
                equal(1, thrown(UnavailableException.class, () -> client.check(Check.of("ann", "a:b"), patient)).attempts());
            }
        }
    }

    static void testFakeDecidesAsToldAndDeniesTheRest() {
        FakePortcullis fake = new FakePortcullis().allow("a:b").deny("a:b", "bob").unavailable("c:d");
        equal(true, fake.check(Check.of("ann", "a:b")).allowed());
        equal(false, fake.check(Check.of("bob", "a:b")).allowed());
        equal(false, fake.checks(List.of(Check.of("ann", "x:y"))).get(0).allowed());
        thrown(UnavailableException.class, () -> fake.require(Check.of("ann", "c:d")));
        thrown(DeniedException.class, () -> fake.require(Check.of("bob", "a:b")));
        equal(5, fake.calls().size());
        Check assuming = Check.of("ann", "a:b").relations(List.of(Relation.of("doc:1", "viewer", "user:ann")));
        fake.check(assuming);
        equal(assuming.relations(), fake.calls().get(5).relations());
        equal(false, assuming.equals(Check.of("ann", "a:b")));
    }

    static void testVersionIsThatOfThePom() throws IOException {
        equal(Version.VERSION, matches("<version>([^<]*)</version>", Files.readString(Path.of("pom.xml"))).get(0).group(1));
    }

    static void testFirstExampleOfTheReadmeRuns() throws Exception {
        String example = matches("```java\n([^`]*)```", Files.readString(Path.of("README.md"))).get(0).group(1);
        try (Server server = Server.answering(200, ALLOW)) {
            Path folder = Files.createTempDirectory(Path.of("target"), "readme");
            Path source = folder.resolve("Example.java");
            Files.writeString(source, "import dev.portcullis.client.*;\npublic class Example {\npublic static void main(String[] none) {\n"
                    + example.replace("http://127.0.0.1:8080", server.url()) + "}\n}\n");
            String classes = System.getProperty("java.class.path");
            equal(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, "-cp", classes, "-d", folder.toString(), source.toString()));
            PrintStream before = System.out;
            ByteArrayOutputStream output = new ByteArrayOutputStream();
            try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
                System.setOut(new PrintStream(output, true));
                loader.loadClass("Example").getMethod("main", String[].class).invoke(null, (Object) new String[0]);
            } finally {
                System.setOut(before);
            }
            equal("allowed", output.toString().strip());
        }
    }

    static void testRealServiceDecides() {
        String binary = System.getenv("PORTCULLIS_BIN");
        if (binary == null || !Files.isExecutable(Path.of(binary))) {
            isTrue(binary == null || !"true".equals(System.getenv("CI")), "PORTCULLIS_BIN names no program");
            System.out.println("SKIPPED java DevServer: PORTCULLIS_BIN names no program");
            return;
        }
        DevServer server = DevServer.start(Path.of("../../policies/hospital"));
        try (server; Portcullis client = server.client("patient-4711")) {
            CallOptions patient = CallOptions.defaults().timeout(Duration.ofSeconds(10));
            Check check = Check.of("patient-4711", "chart:read");
            equal(true, client.check(check.attribute("resource.patient_id", "patient-4711"), patient).allowed());
            equal(false, client.check(check.attribute("resource.patient_id", "patient-1"), patient).allowed());
        }
        // A second close does nothing.
        server.close();
    }
}
