/* What a GPU's compiler finds here is known to every kernel on a CPU. */
