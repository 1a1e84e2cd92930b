import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The client's socket, byte by byte, over ipc://. What its peer sends is what libzmq's ROUTER does. */
@Timeout(20)
final class DealerTest {
    private static final String GREETING = "ff00000000000000017f0301" + "4e554c4c" + "00".repeat(48);
    private static final String READY =
            "0429" + "055245414459" + "0b536f636b65742d5479706500000006524f55544552" + "084964656e7469747900000000";

    @TempDir
    private Path folder;

    private ServerSocketChannel server;
    private CompletableFuture<ArenaBot.Dealer> dealer;
    private SocketChannel peer;
    private DataInputStream in;
    private OutputStream out;

    @BeforeEach
    void connect() throws IOException {
        Path path = folder.resolve("referee");
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(path));
        dealer = new CompletableFuture<>();
        dealer.completeAsync(() -> {
            try {
                return ArenaBot.Dealer.connect("ipc://" + path);
            } catch (IOException error) {
                dealer.completeExceptionally(error);
                return null;
            }
        });
        peer = server.accept();
        in = new DataInputStream(Channels.newInputStream(peer));
        out = Channels.newOutputStream(peer);
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        server.close();
    }

    private void send(String hex) throws IOException {
        out.write(HexFormat.of().parseHex(hex));
    }

    private void expect(String hex) throws IOException {
        byte[] got = new byte[hex.length() / 2];
        in.readFully(got);
        assertEquals(hex, HexFormat.of().formatHex(got));
    }

    private ArenaBot.Dealer connected() throws Exception {
        return dealer.get(20, TimeUnit.SECONDS);
    }

    @Test
    void shakesHandsAsADealer() throws Exception {
        expect("ff00000000000000007f0300" + "4e554c4c" + "00".repeat(48));
        send(GREETING);
        expect("041c" + "055245414459" + "0b536f636b65742d547970650000000644" + "45414c4552");
        connected().close();
        assertEquals(-1, in.read());
    }

    @Test
    void sendsShortAndLongFrames() throws Exception {
        send(GREETING);
        in.readNBytes(64 + 30);
        connected().send(new byte[255]);
        connected().send(new byte[256]);
        expect("00ff" + "00".repeat(255));
        expect("020000000000000100" + "00".repeat(256));
    }

    @Test
    void receivesShortAndLongFramesAndNoCommands() throws Exception {
        send(GREETING + READY + "0001aa");
        assertArrayEquals(new byte[] {(byte) 0xaa}, connected().receive());
        send("0000" + "0407" + "0450494e47" + "0000" + "020000000000000002" + "bbcc");
        assertArrayEquals(new byte[0], connected().receive());
        assertArrayEquals(new byte[] {(byte) 0xbb, (byte) 0xcc}, connected().receive());
    }

    @Test
    void takesBytesAsTheyCome() throws Exception {
        for (int i = 0; i < GREETING.length(); i += 2) {
            send(GREETING.substring(i, i + 2));
        }
        for (String part : new String[] {READY, "00", "02", "aa", "bb"}) {
            send(part);
        }
        assertArrayEquals(new byte[] {(byte) 0xaa, (byte) 0xbb}, connected().receive());
    }

    @Test
    void refusesALengthThatIsNone() throws Exception {
        send(GREETING + READY + "02ffffffffffffffff");
        assertThrows(IOException.class, connected()::receive);
    }

    @Test
    void refusesAFrameThatBreaksOff() throws Exception {
        send(GREETING + READY + "0005aa");
        peer.shutdownOutput();
        assertThrows(EOFException.class, connected()::receive);
    }

    @Test
    void refusesWhatIsNoZeroMqSocket() throws Exception {
        send("48545450".repeat(16));
        String error = assertThrows(ExecutionException.class, this::connected).getMessage();
        assertTrue(error.endsWith("expected a ZeroMQ socket that speaks ZMTP 3, got: something else"), error);
    }
}
