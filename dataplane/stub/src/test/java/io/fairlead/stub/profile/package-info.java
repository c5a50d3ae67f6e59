/** Engine profiles by name, and how they are read from files. */
@NullMarked
package io.fairlead.stub.profile;

import org.jspecify.annotations.NullMarked;
