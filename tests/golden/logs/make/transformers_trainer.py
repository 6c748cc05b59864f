# SPDX-License-Identifier: GPL-3.0-or-later
"""The Trainer of Hugging Face with a small BERT made from its configuration."""

import torch
from data import write_curve
from transformers import (BertConfig, BertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

set_seed(1)
ids = torch.randint(5, 90, (256, 12))
rows = [{"input_ids": row, "labels": int(row[0] > 45)} for row in ids]
model = BertForSequenceClassification(BertConfig(
    vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
    intermediate_size=32, max_position_embeddings=16))
trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir="out", num_train_epochs=4, eval_strategy="epoch",
        logging_strategy="epoch", save_strategy="no", report_to=[],
        learning_rate=0.01, per_device_train_batch_size=16, use_cpu=True),
    train_dataset=rows[:192], eval_dataset=rows[192:])
trainer.train()
write_curve("epochs", "eval_loss",
            [(entry["epoch"], entry["eval_loss"])
             for entry in trainer.state.log_history if "eval_loss" in entry])
