/** What runs have shown: statistics over seeds, and reports as HTML, Markdown, JSON and text. */
@NullMarked
package io.fairlead.lab.report;

import org.jspecify.annotations.NullMarked;
