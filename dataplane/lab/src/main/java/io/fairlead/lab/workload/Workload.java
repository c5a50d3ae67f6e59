package io.fairlead.lab.workload;

import java.util.List;

/** A kind of traffic: who asks what, and when. */
public interface Workload {

  /** As it is named on the command line and in reports. */
  String name();

  /** The models that its requests ask for. */
  List<ServedModel> models();

  /** The requests of one run; they go on for as long as somebody asks for them. */
  Traffic start(long seed);
}
