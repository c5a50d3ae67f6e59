/** Whether the lab's numbers have become worse: runs held against a baseline that is committed. */
@NullMarked
package io.fairlead.lab.gate;

import org.jspecify.annotations.NullMarked;
