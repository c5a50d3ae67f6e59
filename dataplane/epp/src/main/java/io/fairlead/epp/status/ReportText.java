package io.fairlead.epp.status;

import io.fairlead.crds.report.PickerReport;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A report as it is written to an annotation: the API server takes 256 KiB of them in all, and else
 * refuses the object, so that nothing newer would be told at all. What is too long is cut, and says
 * so.
 */
final class ReportText {

  /** Of one message. */
  static final int LONGEST_MESSAGE = 8 << 10;

  /** Of all of it: others may annotate the object, too. */
  static final int LONGEST = 128 << 10;

  /** Of all targets. */
  static final int LONGEST_TARGETS = 64 << 10;

  /** What JSON needs beside the name of a target, at most. */
  private static final int BESIDE_NAME = 32;

  private ReportText() {}

  /** The report as JSON, as much of it as there is room for. */
  static String of(PickerReport report) {
    int longest = LONGEST_MESSAGE;
    String json = cut(report, longest).toJson();
    while (bytes(json) > LONGEST && longest > 1) {
      longest /= 2;
      json = cut(report, longest).toJson();
    }
    return json;
  }

  private static PickerReport cut(PickerReport report, int longest) {
    UnaryOperator<String> cut = message -> cut(message, longest);
    PickerReport.Refused refused = report.refused();
    PickerReport.Endpoints endpoints = report.endpoints();
    return new PickerReport(
        report.pool(),
        report.configHash(),
        report.generation(),
        refused == null
            ? null
            : new PickerReport.Refused(refused.hash(), cut.apply(refused.message())),
        new PickerReport.Endpoints(
            endpoints.matching(),
            endpoints.ready(),
            endpoints.reason(),
            endpoints.outCount(),
            endpoints.out().stream()
                .map(out -> new PickerReport.Out(out.name(), cut.apply(out.reason()), out.since()))
                .toList()),
        report.saturatedSince(),
        report.shadowsOff().stream()
            .map(off -> new PickerReport.ShadowOff(off.name(), cut.apply(off.reason())))
            .toList(),
        report.schedulersOff().stream()
            .map(
                off ->
                    new PickerReport.SchedulerOff(
                        off.shadow(), off.late(), cut.apply(off.reason())))
            .toList(),
        cut(report.targets()));
  }

  /** As many targets as there is room for: first those that somebody has to do something about. */
  private static PickerReport.@Nullable Targets cut(PickerReport.@Nullable Targets all) {
    if (all == null) {
      return null;
    }
    int[] room = {LONGEST_TARGETS};
    List<PickerReport.NotServed> notServed =
        all.notServed().stream().takeWhile(one -> fits(one.name(), room)).toList();
    List<String> served = all.served().stream().takeWhile(name -> fits(name, room)).toList();
    return new PickerReport.Targets(
        served,
        all.servedEarlier().stream().takeWhile(name -> fits(name, room)).toList(),
        notServed);
  }

  private static boolean fits(String name, int[] room) {
    room[0] -= bytes(name) + BESIDE_NAME;
    return room[0] >= 0;
  }

  /** No more than so many bytes of it, in whole characters. */
  private static String cut(String message, int longest) {
    if (bytes(message) <= longest) {
      return message;
    }
    int end = 0;
    for (int bytes = 0; end < message.length(); ) {
      int character = message.codePointAt(end);
      bytes += bytes(Character.toString(character));
      if (bytes > longest) {
        break;
      }
      end += Character.charCount(character);
    }
    return "%s… (cut, %d characters in all)".formatted(message.substring(0, end), message.length());
  }

  private static int bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }
}
