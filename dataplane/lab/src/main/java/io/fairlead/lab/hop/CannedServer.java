package io.fairlead.lab.hop;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.fairlead.epp.transport.Transport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Model servers that answer at once with what they have ready, so that a hop before them is what is
 * measured. A request's header {@value #CHUNKS} asks for an answer of so many events, {@value
 * #EVERY_MILLIS} for a pause between them.
 *
 * <p>Arguments: {@code --servers N}, {@code --page FILE} for {@code /metrics}. Prints {@code
 * listening on PORT,PORT...}.
 */
public final class CannedServer {

  static final String CHUNKS = "x-answer-chunks";
  static final String EVERY_MILLIS = "x-answer-every-millis";

  /** Tells how often a metrics page was read. */
  private static final String PAGES_READ = "/pages-read";

  private static final LongAdder PAGES = new LongAdder();

  private static final int LONGEST_LINE = 16 << 10;
  private static final int LONGEST_PIECE = 256 << 10;

  private static final ByteBuf EVENT =
      shared(
          chunk(
              "data: {\"model\":\"load-model\",\"choices\":[{\"index\":0,\"text\":\"the \"}]}\n\n"));
  private static final ByteBuf END =
      shared(
          chunk(
                  "data: {\"model\":\"load-model\",\"choices\":[],\"usage\":{\"prompt_tokens\":64,"
                      + "\"completion_tokens\":16,\"total_tokens\":80}}\n\n")
              + chunk("data: [DONE]\n\n")
              + chunk(""));
  private static final String ANSWER =
      "{\"id\":\"c\",\"object\":\"chat.completion\",\"model\":\"load-model\",\"choices\":[{\"index\":0,"
          + "\"message\":{\"role\":\"assistant\",\"content\":\"the sea ran\"},\"finish_reason\":"
          + "\"stop\"}],\"usage\":{\"prompt_tokens\":64,\"completion_tokens\":3,\"total_tokens\":67}}";

  private CannedServer() {}

  /** Runs until ended. */
  public static void main(String[] args) throws Exception {
    Programs.main(
        args,
        arguments -> {
          int servers = Math.toIntExact(arguments.whole("--servers"));
          byte[] page = Files.readAllBytes(Path.of(arguments.text("--page")));
          arguments.nothingElse();
          EventLoopGroup loops = Transport.group("canned", 1);
          List<String> ports = new ArrayList<>();
          for (int i = 0; i < servers; i++) {
            ports.add(Integer.toString(start(loops, "stub-" + i, page)));
          }
          System.out.println("listening on " + String.join(",", ports));
          new CountDownLatch(1).await();
          return true;
        });
  }

  /** Starts one on a free loopback port. */
  static int start(EventLoopGroup loops, String name, byte[] page) {
    Answers answers = Answers.of(name, page);
    Channel server =
        new ServerBootstrap()
            .group(loops)
            .channel(Transport.server(loops))
            .option(ChannelOption.SO_BACKLOG, 4096)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel
                        .pipeline()
                        .addLast(
                            new HttpRequestDecoder(LONGEST_LINE, LONGEST_LINE, LONGEST_PIECE),
                            new Answering(answers));
                  }
                })
            .bind("127.0.0.1", 0)
            .syncUninterruptibly()
            .channel();
    return ((InetSocketAddress) server.localAddress()).getPort();
  }

  /** What all connections of a server write. */
  private record Answers(ByteBuf whole, ByteBuf head, ByteBuf page) {

    static final String TEXT = "HTTP/1.1 200 OK\r\ncontent-type: text/plain";

    static Answers of(String name, byte[] page) {
      String begins = "HTTP/1.1 200 OK\r\nx-stub-endpoint: " + name + "\r\ncontent-type: ";
      return new Answers(
          shared(plain(begins + "application/json", ANSWER)),
          shared(begins + "text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"),
          shared(plain(TEXT, new String(page, US_ASCII))));
    }

    static String plain(String begins, String body) {
      return begins + "\r\ncontent-length: " + body.length() + "\r\n\r\n" + body;
    }
  }

  /** Never given back: written again and again. */
  private static ByteBuf shared(String text) {
    byte[] bytes = text.getBytes(US_ASCII);
    return Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(bytes)).asReadOnly();
  }

  private static String chunk(String text) {
    return Integer.toHexString(text.length()) + "\r\n" + text + "\r\n";
  }

  /** Answers each request once it is whole. */
  private static final class Answering extends SimpleChannelInboundHandler<HttpObject> {

    private final Answers answers;
    private String uri = "";
    private int chunks;
    private int everyMillis;

    Answering(Answers answers) {
      this.answers = answers;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
      if (part instanceof HttpRequest request) {
        uri = request.uri();
        chunks = request.headers().getInt(CHUNKS, 0);
        everyMillis = request.headers().getInt(EVERY_MILLIS, 0);
      }
      if (part instanceof LastHttpContent) {
        if (uri.equals(PAGES_READ)) {
          var _ = context.writeAndFlush(shared(Answers.plain(Answers.TEXT, PAGES.toString())));
        } else if (uri.equals("/metrics")) {
          PAGES.increment();
          var _ = context.writeAndFlush(answers.page().duplicate());
        } else if (chunks == 0) {
          var _ = context.writeAndFlush(answers.whole().duplicate());
        } else {
          var _ = context.writeAndFlush(answers.head().duplicate());
          next(context, chunks, everyMillis);
        }
      }
    }

    private static void next(ChannelHandlerContext context, int left, int everyMillis) {
      if (!context.channel().isActive()) {
        return;
      }
      if (left == 0) {
        var _ = context.writeAndFlush(END.duplicate());
        return;
      }
      var _ = context.writeAndFlush(EVENT.duplicate());
      if (everyMillis == 0) {
        next(context, left - 1, 0);
      } else {
        var _ =
            context
                .executor()
                .schedule(
                    () -> next(context, left - 1, everyMillis), everyMillis, TimeUnit.MILLISECONDS);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var _ = context.close(); // the client left
    }
  }
}
