/** Tests of the picker's status. */
@NullMarked
package io.fairlead.epp.status;

import org.jspecify.annotations.NullMarked;
