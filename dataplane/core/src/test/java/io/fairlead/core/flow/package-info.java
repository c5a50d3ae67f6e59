@NullMarked
package io.fairlead.core.flow;

import org.jspecify.annotations.NullMarked;
