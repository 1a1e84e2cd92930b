import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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
        List<String> answers = new ArrayList<>();
        try (Table table = new Table(example())) {
            Map<String, ?> cards = Map.of("choose", 2, "of", List.of("ace", "ace", "king"));
            for (var legal : List.of(List.of(CHOICES), List.of(Map.of("cards", cards, "bet", List.of(7)), CHOICES))) {
                table.send("request", "id", 1, "kind", "of a game that nobody knows", "legal", legal);
                answers.add(table.receive().get("action").toString());
            }
            assertEquals(
                    List.of("{plays=[{space=4, tile=ship1}]}", "{plays=[{bet=7, cards=[ace, ace]}]}"), answers);
        }
    }
}
