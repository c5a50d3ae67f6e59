package io.fairlead.epp.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fairlead.core.Rejection.Reason;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class RejectionLogTest {

  private final Logger logger = (Logger) LoggerFactory.getLogger(RejectionLog.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final RejectionLog log = new RejectionLog();

  @BeforeEach
  void listen() {
    lines.start();
    logger.setLevel(Level.INFO);
    logger.addAppender(lines);
  }

  @AfterEach
  void stop() {
    logger.detachAppender(lines);
    logger.setLevel(null);
  }

  @Test
  void aThousandOfOneReasonAreOneLineInTenSeconds() {
    for (int i = 0; i < 1_000; i++) {
      log.rejected("chat", Reason.FIRST_BYTE_TIMEOUT, TimeUnit.MILLISECONDS.toNanos(i));
    }
    log.rejected("chat", Reason.SATURATED, TimeUnit.MILLISECONDS.toNanos(1_000));
    log.rejected("other", Reason.FIRST_BYTE_TIMEOUT, TimeUnit.SECONDS.toNanos(10));

    assertThat(lines.list)
        .extracting(ILoggingEvent::getLevel, ILoggingEvent::getFormattedMessage)
        .containsExactly(
            tuple(
                Level.WARN,
                "A request for model chat was answered 504 first_byte_timeout: The model server did"
                    + " not begin to answer in time. 0 more were since the last such line."),
            tuple(
                Level.INFO,
                "A request for model chat was answered 429 saturated: "
                    + Reason.SATURATED.message()
                    + " 0 more were since the last such line."),
            tuple(
                Level.WARN,
                "A request for model other was answered 504 first_byte_timeout: The model server"
                    + " did not begin to answer in time. 999 more were since the last such line."));
  }
}
