import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example in the client's opening comment plays as it is written. */
final class ExampleTest {
    private static final Map<String, ?> CHOICES = Map.of("tile", List.of("ship1", "ship2"), "space", List.of(4, 9));

    @TempDir
    private Path folder;

    private ArenaBot example() throws Exception {
        String source = Files.readAllLines(Path.of("ArenaBot.java")).stream()
                .takeWhile(line -> line.startsWith("//"))
                .filter(line -> line.startsWith("//     "))
                .takeWhile(line -> !line.startsWith("//     bot  "))
                .map(line -> line.substring(2))
                .collect(Collectors.joining("\n"));
        Path file = Files.writeString(folder.resolve("First.java"), source);
        String path = ArenaBot.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath();
        int status = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-Xlint:all", "-Werror", "-cp", path, file.toString());
        assertEquals(0, status);
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
            var constructor = loader.loadClass("First").getDeclaredConstructor();
            constructor.setAccessible(true);
            return (ArenaBot) constructor.newInstance();
        }
    }

    @Test
    void theExamplePlays() throws Exception {
        try (Table table = new Table(example())) {
            Map<String, ?> hand = Map.of("choose", 2, "hand", List.of("rice2", "rice3", "rice4"));
            table.send("request", "id", 1, "kind", "hand", "legal", hand);
            assertEquals("{hand=[rice2, rice3]}", table.receive().get("action").toString());
            table.send("request", "id", 2, "kind", "setup", "legal", Map.of("setup", List.of(CHOICES)));
            assertEquals("{space=4, tile=ship1}", table.receive().get("action").toString());
            table.send("request", "id", 3, "kind", "turn", "legal", Map.of("plays", List.of(CHOICES)));
            assertEquals(
                    "{plays=[{space=4, tile=ship1}]}",
                    table.receive().get("action").toString());
        }
    }
}
