/** The objects that serve a pool, built from values alone; nothing here sees a client. */
@NullMarked
package io.fairlead.operator.children;

import org.jspecify.annotations.NullMarked;
