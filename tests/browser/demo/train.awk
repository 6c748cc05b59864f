# SPDX-License-Identifier: GPL-3.0-or-later
# Stands for a training: a curve that falls, faster and further with a good
# setting. awk -v lr=.. -v width=.. -v depth=.. -v dropout=.. -v momentum=..
# -v optimizer=.. -v batch=.. -v from=.. -v epochs=.. -v seed=.. -f train.awk
function log10(x) { return log(x) / log(10) }
function gauss() { return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()) }
BEGIN {
    srand(seed)
    best_lr = (optimizer == "sgd" ? -0.9 : -2.6) + log10(batch / 64) / 2
    off = log10(lr) - best_lr
    if (off > 1.2) {
        for (epoch = 1; epoch <= 3; epoch++)
            printf "epoch=%d val_error=%.5f\n", epoch, 0.9 + rand() / 50
        print "the loss is not a number: lower the learning rate"
        exit 3
    }
    floor = 0.062 + 0.035 * off * off + 0.018 * (log10(width) - 2.3) ^ 2 \
        + 0.012 * (depth - 3) ^ 2 / 4 + 0.05 * (dropout - 0.2) ^ 2 \
        + (optimizer == "sgd" ? 0.03 * (momentum - 0.88) ^ 2 + 0.004 : 0)
    rate = 0.55 + 0.4 * exp(-off * off)
    for (epoch = 1; epoch <= epochs; epoch++) {
        noise = 0.004 * gauss() / sqrt(epoch)
        if (epoch > from)
            printf "epoch=%d val_error=%.5f train_loss=%.5f\n", epoch,
                floor + 0.8 * epoch ^ -rate * 0.4 + noise,
                2.3 * epoch ^ -(rate * 1.1) + 0.05 * rand()
    }
}
