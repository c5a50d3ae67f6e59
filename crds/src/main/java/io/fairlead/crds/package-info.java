/** What the resource types of every API group share. */
@NullMarked
package io.fairlead.crds;

import org.jspecify.annotations.NullMarked;
