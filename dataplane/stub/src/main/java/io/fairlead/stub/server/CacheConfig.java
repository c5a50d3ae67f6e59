package io.fairlead.stub.server;

import java.util.Locale;

/** What vLLM says of its KV cache's configuration, in labels; absent values are {@code None}. */
final class CacheConfig {

  private CacheConfig() {}

  static String labels(ModelServerConfig config, int blocks) {
    int blockTokens = config.profile().blockTokens();
    long tokens = (long) blocks * blockTokens;
    return String.format(
        Locale.ROOT,
        """
        _block_size_resolved="True",\
        block_size="%d",\
        cache_dtype="auto",\
        cache_hit_alignment_tokens="None",\
        effective_attention_block_size="%d",\
        enable_mamba_shared_prefix_checkpoint="False",\
        enable_prefix_caching="True",\
        engine="0",\
        gpu_memory_utilization="0.92",\
        hash_block_size="None",\
        is_attention_free="False",\
        kv_cache_dtype_skip_layers="[]",\
        kv_cache_layout="None",\
        kv_cache_max_concurrency="%s",\
        kv_cache_memory_bytes="None",\
        kv_cache_size_tokens="%d",\
        kv_offloading_backend="native",\
        kv_offloading_size="None",\
        kv_sharing_fast_prefill="False",\
        mamba_block_size="None",\
        mamba_cache_dtype="auto",\
        mamba_cache_mode="none",\
        mamba_page_size_padded="None",\
        mamba_ssm_cache_dtype="float32",\
        num_cpu_blocks="None",\
        num_gpu_blocks="%d",\
        num_gpu_blocks_override="None",\
        prefix_cache_retention_interval="0",\
        prefix_caching_hash_algo="sha256",\
        prefix_match_unit="None",\
        replayssm_buffer_len="16",\
        skip_page_size_padded="None",\
        sliding_window="None",\
        swa_bounded_replay="True",\
        use_kda_recoverssm="False",\
        use_replayssm="False",\
        user_specified_block_size="False"\
        """,
        blockTokens,
        blockTokens,
        tokens / (double) config.maxModelLen(),
        tokens,
        blocks);
  }
}
