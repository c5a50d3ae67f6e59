/** Tests of what pickers hand over. */
@NullMarked
package io.fairlead.epp.handover;

import org.jspecify.annotations.NullMarked;
