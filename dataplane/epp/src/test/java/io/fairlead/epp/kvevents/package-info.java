@NullMarked
package io.fairlead.epp.kvevents;

import org.jspecify.annotations.NullMarked;
