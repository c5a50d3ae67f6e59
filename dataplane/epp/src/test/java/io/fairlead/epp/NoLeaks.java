package io.fairlead.epp;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.slf4j.LoggerFactory;

/** Fails a test class after which a Netty buffer was lost without having been released. */
public final class NoLeaks implements BeforeAllCallback, AfterAllCallback {

  private static final Namespace NAMESPACE = Namespace.create(NoLeaks.class);

  @Override
  public void beforeAll(ExtensionContext context) {
    context.getStore(NAMESPACE).put(Reports.class, new Reports());
  }

  @Override
  public void afterAll(ExtensionContext context) {
    Reports reports = context.getStore(NAMESPACE).get(Reports.class, Reports.class);
    Assertions.assertThat(reports).isNotNull();
    Assertions.assertThat(reports.end()).as("buffers lost without a release").isEmpty();
  }

  /** What Netty's leak detector says meanwhile. */
  static final class Reports {
    private final Logger logger =
        (Logger) LoggerFactory.getLogger(ResourceLeakDetector.class.getName());
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    Reports() {
      appender.start();
      logger.addAppender(appender);
    }

    /** All reports so far; a buffer is known to be lost once the collector has found it. */
    List<String> now() {
      System.gc();
      ByteBufAllocator.DEFAULT.directBuffer(1).release(); // the detector reports when it tracks
      return List.copyOf(appender.list).stream()
          .map(ILoggingEvent::getFormattedMessage)
          .filter(message -> message.contains("LEAK"))
          .toList();
    }

    List<String> end() {
      List<String> found = now();
      logger.detachAppender(appender);
      return found;
    }
  }
}
