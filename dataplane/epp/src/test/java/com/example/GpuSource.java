package com.example;

import io.fairlead.plugin.DataSource;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Readings;

public final class GpuSource implements DataSource {

  private final int port;

  private GpuSource(int port) {
    this.port = port;
  }

  @Override
  public String path() {
    return "/metrics";
  }

  @Override
  public int port(Target endpoint) {
    return port;
  }

  @Override
  public void read(Target endpoint, String page, Readings readings) {
    page.lines()
        .filter(line -> line.startsWith("DCGM_FI_DEV_GPU_UTIL{"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .max()
        .ifPresent(percent -> readings.number("GPUUtilization", percent / 100));
  }

  public static final class Factory implements PluginFactory {
    @Override
    public String type() {
      return "gpu-source";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new GpuSource(parameters.integer("port", 9400, 1, 65_535));
    }
  }
}
