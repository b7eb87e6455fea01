"""The colours of figures: Okabe and Ito's palette, told apart with every kind of colour vision.

Line styles tell lines apart in print.
"""

BLUE, ORANGE, GREEN, SKY, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#56B4E9", "#CC79A7", "#767676"
