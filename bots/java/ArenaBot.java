// The client of an arena bot, in one file. It needs msgpack-core from Maven, and nothing else.
//
// Copy it beside your bot, extend ArenaBot, and call `run`:
//
//     import java.util.List;
//     import java.util.Map;
//     import java.util.TreeMap;
//
//     class First extends ArenaBot { // takes the first legal play of every request, in any game
//         First() {
//             super("first", "1.0", "legal");
//         }
//
//         @Override
//         public Answer decide(Data request) {
//             Map<String, Object> play = new TreeMap<>();
//             request.get("legal").get(0).map().forEach((key, values) -> play.put(key, first(values)));
//             return new Answer(Map.of("plays", List.of(play)));
//         }
//
//         static Object first(Data values) {
//             return values.isMap() // choose several, else one
//                     ? values.get("of").list().subList(0, values.get("choose").number())
//                     : values.get(0);
//         }
//
//         public static void main(String[] args) {
//             run(new First());
//         }
//     }
//
// The referee starts the bot as a process with two environment variables, ARENA_ENDPOINT and ARENA_TOKEN. Then:
//
//     bot       hello                                       action    ready   (one answer to each)
//     referee          welcome   game_start   request ...          ...       game_over   ...   goodbye
//
// Each message is one msgpack map in one ZeroMQ frame, with the key "type". One session serves many games.
//
// In every game `legal` is an array of products: maps that give, for each key of a play, the values it may have. They
// are an array to choose one from, or a map {"choose": n, "of": [...]} to choose n from. The action is always a map
// {"plays": [...]}; each play has a chosen value for each key of one product. One play is always enough.
//
// ZeroMQ itself is the class Dealer at the end. JeroMQ, the library for it in Java, reaches only other JeroMQs over
// ipc:// (up to 0.6.0, its latest release): there it speaks TCP, whatever the path.

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/** What a bot does. Override {@link #decide}; the rest as you need it. */
public abstract class ArenaBot {
    /** The version of the protocol that this client speaks. */
    public static final String PROTOCOL = "1.0";

    private final String name;
    private final String version;
    private final List<String> want;

    /** @param want what each request shall carry: any of "view", "events", "legal". The less, the faster. */
    protected ArenaBot(String name, String version, String... want) {
        this.name = name;
        this.version = version;
        this.want = List.of(want);
    }

    /** Begins a game. {@code game} is the message game_start: rules, options, seat, seats, board, bot_seed, ... */
    public void start(Data game) {}

    /** Answers a request, which has the {@code kind} of decision, the {@code clock}, and what the bot wants. */
    public abstract Answer decide(Data request);

    /** Ends a game. {@code result} is the message game_over: termination, ranks, forfeits. */
    public void over(Data result) {}

    /**
     * A decision.
     *
     * @param action a map {"plays": [...]}, made of maps, lists, strings, integers, booleans and Data
     * @param note a short text of what the bot was thinking, or null; it is kept in the log, and no opponent sees it
     *     during the game
     */
    public record Answer(Object action, String note) {
        public Answer(Object action) {
            this(action, null);
        }
    }

    /** Plays games with {@code bot} until the referee says goodbye, and ends the process. */
    public static void run(ArenaBot bot) {
        System.exit(play(bot, System.getenv("ARENA_ENDPOINT"), System.getenv("ARENA_TOKEN"), System.err));
    }

    /**
     * Plays until goodbye. Returns the status to exit with, after a word on {@code err} if it is not 0. After a failure
     * the connection stays open until the process ends: so the referee finds that the bot has ended, and not that it
     * lost the connection.
     */
    static int play(ArenaBot bot, String endpoint, String token, PrintStream err) {
        if (endpoint == null || token == null) {
            err.println(
                    "expected ARENA_ENDPOINT and ARENA_TOKEN in the environment: arena's referee starts this program");
            return 1;
        }
        try {
            Dealer referee = Dealer.connect(endpoint);
            bot.serve(referee, token);
            referee.close();
            return 0;
        } catch (IOException error) {
            err.println(error.getMessage());
        } catch (RuntimeException | Error error) { // the bot's own
            error.printStackTrace(err);
        }
        return 1;
    }

    private void serve(Dealer referee, String token) throws IOException {
        send(referee, "hello", "token", token, "protocol", PROTOCOL, "name", name, "version", version, "want", want);
        int maxNote = 1024;
        while (true) {
            Data message = Codec.decode(referee.receive());
            switch (message.get("type").text()) {
                case "request" -> {
                    Answer answer = decide(message);
                    String note = answer.note() == null ? null : cut(answer.note(), maxNote);
                    send(referee, "action", "id", message.get("id"), "action", answer.action(), "note", note);
                }
                case "game_start" -> {
                    start(message);
                    send(referee, "ready", "game", message.get("game"));
                }
                case "game_over" -> over(message);
                case "welcome" -> maxNote = message.get("max_note").number();
                case "error" -> {
                    Data text = message.get("message");
                    String said = text.isNil() ? "" : text.toString();
                    throw new ProtocolException("referee: " + message.get("code") + ": " + said);
                }
                case "goodbye" -> {
                    return;
                }
                default -> {} // belongs to a later version of the protocol
            }
        }
    }

    /** Sends a message, with its fields as keys and values in turn. */
    private static void send(Dealer referee, String type, Object... fields) throws IOException {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("type", type);
        for (int i = 0; i < fields.length; i += 2) {
            message.put((String) fields[i], fields[i + 1]);
        }
        referee.send(Codec.encode(message));
    }

    /** Returns the beginning of a text, in at most so many bytes of UTF-8. */
    static String cut(String text, int bytes) {
        ByteBuffer cut = ByteBuffer.allocate(bytes);
        StandardCharsets.UTF_8
                .newEncoder()
                .onMalformedInput(CodingErrorAction.REPLACE) // half of a surrogate pair
                .encode(CharBuffer.wrap(text), cut, true);
        return StandardCharsets.UTF_8.decode(cut.flip()).toString();
    }

    /** A part of a message from the referee. Each call says in its exception if the part is something else. */
    public static final class Data {
        private static final Data NIL = new Data(null);

        private final Object value;

        private Data(Object value) {
            this.value = value;
        }

        public boolean isNil() {
            return value == null;
        }

        public boolean isMap() {
            return value instanceof Map;
        }

        public String text() {
            return as(String.class, "a string");
        }

        /** An integer, such as a space. */
        public int number() {
            return Math.toIntExact(longNumber());
        }

        /** An integer of up to 53 bits, such as {@code bot_seed}. */
        public long longNumber() {
            return as(Long.class, "an integer");
        }

        public boolean truth() {
            return as(Boolean.class, "a boolean");
        }

        @SuppressWarnings("unchecked") // Codec makes no others
        public List<Data> list() {
            return (List<Data>) as(List.class, "an array");
        }

        /** An element of an array. */
        public Data get(int index) {
            return list().get(index);
        }

        /** A map. Its order means nothing. */
        @SuppressWarnings("unchecked") // Codec makes no others
        public Map<String, Data> map() {
            return (Map<String, Data>) as(Map.class, "a map");
        }

        /** The value of a map's key; nil if it has none. */
        public Data get(String key) {
            return map().getOrDefault(key, NIL);
        }

        @Override
        public String toString() {
            return String.valueOf(value);
        }

        private <T> T as(Class<T> type, String expected) {
            if (!type.isInstance(value)) {
                throw new IllegalStateException("expected " + expected + ", got: " + value);
            }
            return type.cast(value);
        }
    }

    /** Messages as msgpack. */
    static final class Codec {
        private static final int DEEPEST = 16;

        private Codec() {}

        static byte[] encode(Map<String, ?> message) throws IOException {
            try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
                pack(packer, message);
                return packer.toByteArray();
            }
        }

        private static void pack(MessagePacker packer, Object value) throws IOException {
            if (value == null) {
                packer.packNil();
            } else if (value instanceof Data data) {
                pack(packer, data.value);
            } else if (value instanceof String text) {
                packer.packString(text);
            } else if (value instanceof Integer || value instanceof Long) {
                packer.packLong(((Number) value).longValue());
            } else if (value instanceof Boolean truth) {
                packer.packBoolean(truth);
            } else if (value instanceof Collection<?> array) {
                packer.packArrayHeader(array.size());
                for (Object element : array) {
                    pack(packer, element);
                }
            } else if (value instanceof Map<?, ?> map) {
                packer.packMapHeader(map.size());
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    packer.packString((String) entry.getKey());
                    pack(packer, entry.getValue());
                }
            } else {
                throw new IllegalArgumentException(
                        "expected maps, lists, strings, integers, booleans and Data in an action, got: "
                                + value.getClass());
            }
        }

        /** A message; an IOException if the frame holds none. */
        static Data decode(byte[] frame) throws IOException {
            try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(frame)) {
                Data message = unpack(unpacker, 1);
                message.get("type").text();
                if (unpacker.hasNext()) {
                    throw new ProtocolException("expected nothing after it");
                }
                return message;
            } catch (IOException | MessagePackException | IllegalStateException error) {
                String expected = "expected one msgpack map with a type in each frame, got: ";
                throw new IOException(expected + frame.length + " bytes that are none", error);
            }
        }

        private static Data unpack(MessageUnpacker unpacker, int depth) throws IOException {
            ValueType type = unpacker.getNextFormat().getValueType();
            if (depth > DEEPEST && (type.isArrayType() || type.isMapType())) {
                throw new ProtocolException("expected maps and arrays at most " + DEEPEST + " deep");
            }
            return new Data(
                    switch (type) {
                        case NIL -> {
                            unpacker.unpackNil();
                            yield null;
                        }
                        case BOOLEAN -> unpacker.unpackBoolean();
                        case INTEGER -> unpacker.unpackLong();
                        case STRING -> unpacker.unpackString();
                        case ARRAY -> {
                            List<Data> list = new ArrayList<>(); // grows as it is read, for its header may lie
                            for (int left = unpacker.unpackArrayHeader(); left > 0; left--) {
                                list.add(unpack(unpacker, depth + 1));
                            }
                            yield list;
                        }
                        case MAP -> {
                            Map<String, Data> map = new LinkedHashMap<>();
                            for (int left = unpacker.unpackMapHeader(); left > 0; left--) {
                                if (map.put(unpacker.unpackString(), unpack(unpacker, depth + 1)) != null) {
                                    throw new ProtocolException("expected every key once");
                                }
                            }
                            yield map;
                        }
                        default -> throw new ProtocolException("expected no floats, binary and extension types");
                    });
        }
    }

    /**
     * A ZeroMQ DEALER that is connected to one peer, over ipc:// or tcp://: ZMTP 3.0 with the mechanism NULL, as
     * rfc.zeromq.org/spec/23 has it. Each message is one frame.
     */
    static final class Dealer implements Closeable {
        private static final int MAX_FRAME = 1 << 20; // what a referee may send
        private static final int MORE = 1; // flags of a frame
        private static final int LONG = 2;
        private static final int COMMAND = 4;
        private static final int GREETING = 64;

        private final SocketChannel channel;
        private final DataInputStream in;
        private final OutputStream out;

        /** Connect to an endpoint; an IOException, with a word for the bot's author, if nobody is there. */
        static Dealer connect(String endpoint) throws IOException {
            try {
                if (endpoint.startsWith("ipc://")) {
                    return new Dealer(SocketChannel.open(UnixDomainSocketAddress.of(endpoint.substring(6))));
                }
                if (endpoint.startsWith("tcp://")) {
                    int colon = endpoint.lastIndexOf(':');
                    int port = Integer.parseInt(endpoint.substring(colon + 1));
                    SocketChannel channel =
                            SocketChannel.open(new InetSocketAddress(endpoint.substring(6, colon), port));
                    return new Dealer(channel.setOption(StandardSocketOptions.TCP_NODELAY, true));
                }
            } catch (IOException | RuntimeException error) {
                throw new IOException("cannot connect to " + endpoint + ": " + error.getMessage(), error);
            }
            throw new IOException("expected an endpoint ipc://PATH or tcp://HOST:PORT, got: " + endpoint);
        }

        private Dealer(SocketChannel channel) throws IOException {
            this.channel = channel;
            in = new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel), 1 << 16));
            out = Channels.newOutputStream(channel);
            ByteBuffer greeting = ByteBuffer.allocate(GREETING);
            greeting.put(0, (byte) 0xFF)
                    .put(9, (byte) 0x7F)
                    .put(10, (byte) 3)
                    .put(12, "NULL".getBytes(StandardCharsets.UTF_8));
            out.write(greeting.array());
            byte[] peer = in.readNBytes(GREETING);
            if (peer.length < GREETING || peer[0] != (byte) 0xFF || peer[9] != 0x7F || peer[10] < 3) {
                throw new ProtocolException("expected a ZeroMQ socket that speaks ZMTP 3, got: something else");
            }
            write(COMMAND, "\5READY\13Socket-Type\0\0\0\6DEALER".getBytes(StandardCharsets.UTF_8));
        }

        void send(byte[] message) throws IOException {
            write(0, message);
        }

        /** The next message, whenever it comes. */
        byte[] receive() throws IOException {
            while (true) {
                int flags = in.read();
                if (flags < 0) {
                    throw new EOFException("the referee closed the connection");
                }
                long size = (flags & LONG) != 0 ? in.readLong() : in.readUnsignedByte();
                if ((flags & MORE) != 0 || size < 0 || size > MAX_FRAME) {
                    throw new ProtocolException("expected messages of one frame of at most " + MAX_FRAME + " bytes");
                }
                byte[] body = new byte[(int) size];
                in.readFully(body);
                if ((flags & COMMAND) == 0) {
                    return body;
                }
            }
        }

        private void write(int flags, byte[] body) throws IOException {
            ByteBuffer frame = ByteBuffer.allocate(body.length + 9);
            if (body.length > 255) {
                frame.put((byte) (flags | LONG)).putLong(body.length);
            } else {
                frame.put((byte) flags).put((byte) body.length);
            }
            out.write(frame.array(), 0, frame.put(body).position());
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
