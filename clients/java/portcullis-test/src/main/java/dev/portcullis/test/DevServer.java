package dev.portcullis.test;

import dev.portcullis.client.Portcullis;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** {@code portcullis dev} on a folder of tenants: a test decides as production does. */
public final class DevServer implements AutoCloseable {
    private static final Pattern ADDRESS = Pattern.compile("https?://[0-9.:\\[\\]a-z]+");

    private final Process process;
    private final Path data;
    private final String url;

    private DevServer(Process process, Path data, String url) {
        this.process = process;
        this.data = data;
        this.url = url;
    }

    /**
     * Starts the program of {@code PORTCULLIS_BIN}, or {@code portcullis}, and waits until it serves.
     *
     * @throws IllegalStateException if it does not start
     */
    public static DevServer start(Path folder) {
        String variable = System.getenv("PORTCULLIS_BIN");
        String program = variable == null || variable.isEmpty() ? "portcullis" : variable;
        try {
            Path data = Files.createTempDirectory("portcullis-");
            try {
                Process process = process(List.of(program, "dev", folder.toString(), "--port", "0", "--data-dir", data.toString()));
                return new DevServer(process, data, address(process, program));
            } catch (IOException | RuntimeException error) {
                remove(data);
                throw new IllegalStateException("cannot start `" + program + "`: " + error.getMessage(), error);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Returns the address of the service. */
    public String url() {
        return url;
    }

    /** Returns a client with the token of a sample user. */
    public Portcullis client(String user) {
        URI address = URI.create(url + "/dev/token?user=" + URLEncoder.encode(user, StandardCharsets.UTF_8));
        try {
            HttpResponse<String> answer = HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
            String token = answer.body().strip();
            if (answer.statusCode() != 200) {
                throw new IllegalStateException("no token of `" + user + "`: " + token);
            }
            return Portcullis.builder().url(url).token(token).build();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", error);
        }
    }

    /** Stops the service and removes its data. */
    @Override
    public void close() {
        process.destroy();
        process.onExit().join();
        try {
            remove(data);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static Process process(List<String> command) throws IOException {
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** Returns the address that the program prints first. What it prints later is read, so that it never waits for a reader. */
    private static String address(Process process, String program) throws IOException {
        BufferedReader output = process.inputReader();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            Matcher address = ADDRESS.matcher(line);
            if (address.find()) {
                Thread reader = new Thread(() -> readAll(output), "portcullis-dev");
                reader.setDaemon(true);
                reader.start();
                return address.group();
            }
        }
        throw new IllegalStateException("`" + program + " dev` ended with " + process.onExit().join().exitValue());
    }

    private static void readAll(BufferedReader output) {
        try {
            output.transferTo(Writer.nullWriter());
        } catch (IOException closed) {
            // The program has ended.
        }
    }

    private static void remove(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
