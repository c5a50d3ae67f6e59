@NullMarked
package io.fairlead.core.account;

import org.jspecify.annotations.NullMarked;
