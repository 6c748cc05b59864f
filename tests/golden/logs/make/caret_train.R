# SPDX-License-Identifier: GPL-3.0-or-later
# caret's train(): a table of the results, a row for each value of k.
suppressMessages(library(caret))
set.seed(1)
fit <- train(Species ~ ., data = iris, method = "knn",
             trControl = trainControl(method = "cv", number = 5),
             tuneGrid = data.frame(k = c(1, 3, 5, 7, 9)))
print(fit)
file <- file(Sys.getenv("CURVE"), "w")
cat("resource k\nmetric Accuracy\n", file = file)
cat(sprintf("%g %.8g\n", fit$results$k, fit$results$Accuracy), sep = "",
    file = file)
close(file)
