import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** A toy referee for one bot, which plays in a thread of its own. Its socket is JeroMQ's, and so not the client's. */
final class Table implements AutoCloseable {
    static final String TOKEN = "token-of-this-test";

    /** How long to wait for a bot that ought to answer at once: only a broken one takes so long. */
    private static final int PATIENCE_MS = 20_000;

    private final ZContext context = new ZContext();
    private final ZMQ.Socket socket = context.createSocket(SocketType.ROUTER);
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final CompletableFuture<Integer> status;
    private byte[] identity;

    /** Seats the bot, and waits for its `hello`, which is in `hello`. */
    Table(ArenaBot bot) throws Exception {
        socket.setLinger(0);
        socket.setReceiveTimeOut(PATIENCE_MS);
        String endpoint = "tcp://127.0.0.1:" + socket.bindToRandomPort("tcp://127.0.0.1");
        status = CompletableFuture.supplyAsync(() -> ArenaBot.play(bot, endpoint, TOKEN, new PrintStream(err, true)));
        hello = receive();
    }

    final ArenaBot.Data hello;

    ArenaBot.Data receive() throws Exception {
        identity = socket.recv();
        return ArenaBot.Codec.decode(socket.recv());
    }

    /** Sends a message with these keys and values, and one that no version of the protocol knows. */
    void send(String type, Object... fields) throws Exception {
        Map<String, Object> message = new LinkedHashMap<>(Map.of("type", type, "from_the_future", Map.of("a", 1)));
        for (int i = 0; i < fields.length; i += 2) {
            message.put((String) fields[i], fields[i + 1]);
        }
        sendFrames(ArenaBot.Codec.encode(message));
    }

    /** Sends a message of these frames as they are. */
    void sendFrames(byte[]... frames) {
        socket.sendMore(identity);
        for (int i = 0; i < frames.length; i++) {
            socket.send(frames[i], i + 1 < frames.length ? ZMQ.SNDMORE : 0);
        }
    }

    /** The status with which the process would end. */
    int status() throws Exception {
        return status.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
    }

    /** What the bot has said on its stderr. */
    String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        context.close();
    }
}
