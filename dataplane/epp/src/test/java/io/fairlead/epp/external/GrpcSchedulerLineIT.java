package io.fairlead.epp.external;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.scheduler.v1.Decision;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.SchedulerGrpc;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A scheduler over a real socket. */
class GrpcSchedulerLineIT {

  /** Each takes two bytes in the message, and thirty times as much of the heap. */
  @Test
  void aMessageOfEmptyDecisionsBreaksTheStream() throws Exception {
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    DefaultEventExecutor loop = new DefaultEventExecutor();
    Server scheduler =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(new Flood())
            .build()
            .start();
    GrpcSchedulerLine line =
        new GrpcSchedulerLine(
            new ExternalScheduler(
                "127.0.0.1:" + scheduler.getPort(),
                Duration.ofMillis(20),
                Duration.ZERO,
                1,
                Duration.ofSeconds(1),
                false,
                false,
                List.of(),
                false,
                ""),
            SchedulerLoop.of(loop));
    try {
      line.start(new Told(events));
      assertThat(next(events)).isEqualTo("opened");
      assertThat(next(events)).isEqualTo("8192 decisions");
      assertThat(next(events)).isEqualTo("CANCELLED, a message of more than 8192 decisions");
      assertThat(next(events)).as("and another is opened").isEqualTo("opened");
    } finally {
      line.close();
      scheduler.shutdownNow().awaitTermination();
      loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }

  private static @Nullable String next(BlockingQueue<String> events) throws InterruptedException {
    return events.poll(30, TimeUnit.SECONDS);
  }

  /** Sends as many decisions as it may, and then one more. */
  private static final class Flood extends SchedulerGrpc.SchedulerImplBase {

    @Override
    public StreamObserver<PickerMessage> schedule(StreamObserver<SchedulerMessage> to) {
      to.onNext(decisions(ExternalScheduling.MOST_DECISIONS));
      to.onNext(decisions(ExternalScheduling.MOST_DECISIONS + 1));
      return new StreamObserver<>() {
        @Override
        public void onNext(PickerMessage message) {
          // It floods whatever it is asked.
        }

        @Override
        public void onError(Throwable thrown) {
          // The picker has left.
        }

        @Override
        public void onCompleted() {
          to.onCompleted();
        }
      };
    }

    private static SchedulerMessage decisions(int many) {
      return SchedulerMessage.newBuilder()
          .addAllDecisions(Collections.nCopies(many, Decision.getDefaultInstance()))
          .build();
    }
  }

  private record Told(BlockingQueue<String> events) implements SchedulerLine.Listener {

    @Override
    public void opened() {
      events.add("opened");
    }

    @Override
    public void ready() {
      // It has nothing to send.
    }

    @Override
    public int came(SchedulerMessage message) {
      events.add(message.getDecisionsCount() + " decisions");
      return 1;
    }

    @Override
    public void broken(String why) {
      events.add(why);
    }
  }
}
