package io.fairlead.operator.reconcile;

import io.fairlead.operator.observe.Adoption;
import java.time.Duration;

/**
 * What the operator was started with.
 *
 * @param adoption which pools are served without being claimed
 * @param grace how long such a pool is left to others at first: installs apply a pool and its
 *     Service one after the other
 * @param eppImage image of pickers that name none
 */
public record Settings(Adoption adoption, Duration grace, String eppImage) {}
