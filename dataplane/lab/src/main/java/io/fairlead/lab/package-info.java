/** What the programs of the lab share. */
@NullMarked
package io.fairlead.lab;

import org.jspecify.annotations.NullMarked;
