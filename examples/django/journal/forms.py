# SPDX-License-Identifier: Apache-2.0
from django import forms

from .models import Comment, Sighting


class SightingForm(forms.ModelForm):
    class Meta:
        model = Sighting
        fields = ["bird", "place", "text"]


class CommentForm(forms.ModelForm):
    class Meta:
        model = Comment
        fields = ["author", "text"]


class UploadForm(forms.Form):
    file = forms.FileField()
