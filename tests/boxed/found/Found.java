import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/** Prints what a program in Java finds: see tests/found.py. */
final class Found {
    private Found() {}

    private static void found(String key, Callable<Object> look) {
        Object value;
        try {
            value = look.call();
        } catch (Exception error) {
            value = false;
        }
        System.out.println(key + " " + (value.equals(true) ? "works" : value.equals(false) ? "fails" : value));
    }

    private static boolean locks() throws IOException {
        try (FileChannel own = FileChannel.open(Path.of("found.c"))) {
            return own.lock(0, Long.MAX_VALUE, true).isValid();
        }
    }

    public static void main(String[] words) {
        found("user", () -> System.getenv().getOrDefault("USER", "none"));
        found("account", () -> System.getProperty("user.name").equals("?") ? false : System.getProperty("user.name"));
        found("threads", () -> {
            Thread made = new Thread(() -> {});
            made.start();
            made.join();
            return true;
        });
        found("processes", () -> new ProcessBuilder("sh", "-c", "exit 0").start().waitFor() == 0);
        found("files", () -> Files.deleteIfExists(Files.createTempFile(Path.of("/tmp"), "found", "")));
        found("lock", Found::locks);
        found("proc", () -> Files.readAllBytes(Path.of("/proc/self/status")).length > 0);
    }
}
