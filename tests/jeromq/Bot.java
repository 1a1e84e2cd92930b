// The first legal play, over a DEALER of JeroMQ, whose ipc is TCP: it connects to a port.

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

final class Bot {
    public static void main(String[] args) throws Exception {
        try (ZContext context = new ZContext()) {
            ZMQ.Socket socket = context.createSocket(SocketType.DEALER);
            socket.setHeartbeatIvl(100);
            socket.setHeartbeatTimeout(5000); // longer than a busy machine stands still
            long pauseMs = 7000; // once longer than that: what answers no heartbeat is cut
            socket.connect(System.getenv("ARENA_ENDPOINT"));
            send(socket, Map.of("type", text("hello"), "token", text(System.getenv("ARENA_TOKEN")),
                "protocol", text("1.0"), "want", ValueFactory.newArray(text("legal"))));
            while (true) {
                Map<Value, Value> message = MessagePack.newDefaultUnpacker(socket.recv()).unpackValue().asMapValue().map();
                switch (message.get(text("type")).asStringValue().asString()) {
                    case "game_start" -> send(socket, Map.of("type", text("ready"), "game", message.get(text("game"))));
                    case "request" -> {
                        Thread.sleep(pauseMs);
                        pauseMs = 60; // time for heartbeats while it is asked
                        send(socket, Map.of("type", text("action"), "id", message.get(text("id")), "action",
                            map(Map.of("plays", ValueFactory.newArray(first(message.get(text("legal"))))))));
                    }
                    case "goodbye" -> System.exit(0);
                    case "error" -> System.exit(7);
                    default -> { }
                }
            }
        }
    }

    /** Returns the first play of the first product. */
    private static Value first(Value legal) {
        Map<Value, Value> play = new LinkedHashMap<>(legal.asArrayValue().get(0).asMapValue().map());
        play.replaceAll((key, values) -> {
            if (!values.isMapValue()) {
                return values.asArrayValue().get(0);
            }
            Map<Value, Value> several = values.asMapValue().map();
            List<Value> of = several.get(text("of")).asArrayValue().list();
            return ValueFactory.newArray(of.subList(0, several.get(text("choose")).asIntegerValue().toInt()));
        });
        return ValueFactory.newMap(play);
    }

    private static Value text(String text) {
        return ValueFactory.newString(text);
    }

    private static Value map(Map<String, Value> fields) {
        Map<Value, Value> map = new LinkedHashMap<>();
        fields.forEach((key, value) -> map.put(text(key), value));
        return ValueFactory.newMap(map);
    }

    private static void send(ZMQ.Socket socket, Map<String, Value> fields) throws Exception {
        try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
            packer.packValue(map(fields));
            socket.send(packer.toByteArray());
        }
    }
}
